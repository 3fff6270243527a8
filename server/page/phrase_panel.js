// One phrase: what else its source words could have become, and what it adds to the score.

import { element, score, table } from "./dom.js";
import { weightedBars } from "./features.js";

/** `fix` is called with words of the sentence and the translation that is chosen for them. */
export function phrasePanel(best, number, fix) {
  const phrase = best.phrases[number];
  const chosen = phrase.alternatives.find((one) => one.is_chosen);
  const rows = phrase.alternatives.map((one) => [
    one.is_chosen ? element("strong", { dir: "auto" }, one.target || "∅") : alternative(phrase.source, one.target, fix),
    one.total - (chosen?.total ?? 0),
    one.total,
    one.score,
    one.estimate,
  ]);
  const header = ["translation", "difference", "score of sentence", "score of pair", "estimate of pair"];
  return element(
    "div",
    {},
    element("h3", {}, "For “", element("bdi", {}, phrase.source), "”"),
    table(header, rows, { class: "alternatives" }),
    element("h3", {}, "What “", element("bdi", {}, phrase.target || "∅"), `” adds here: ${score(phrase.score)}`),
    weightedBars(phrase.features),
  );
}

/** Another translation of the words, which a click fixes, so that the rest is translated anew. */
function alternative(source, target, fix) {
  if (!target) return "∅";
  const title = "Fix this translation, and translate the rest again";
  return element("button", { type: "button", class: "link", dir: "auto", title, onclick: () => fix(source, target) }, target);
}
