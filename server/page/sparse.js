// Sparse features that fired, each with the phrase that it fired at.

import { element, table } from "./dom.js";

const SHOWN = 40; // at first

export function sparsePanel({ sparse, phrases }) {
  if (!sparse.length) {
    return element("p", { class: "hint" }, "No sparse feature occurs. train-maxforce and train-ranking train sparse features.");
  }
  const count = element("p", { class: "hint" }, `${sparse.length} sparse features, by importance`);
  const list = element("div", {}, featureTable(sparse.slice(0, SHOWN), phrases));
  const showAll = () => {
    list.replaceChildren(featureTable(sparse, phrases));
    button.remove();
  };
  const button = element("button", { type: "button", onclick: showAll }, "Show all");
  return element("div", {}, count, list, sparse.length > SHOWN && button);
}

function featureTable(features, phrases) {
  const rows = features.map((one) => [one.name, phraseAt(phrases[one.phrase]), one.score, one.value, one.weight]);
  return table(["feature", "at", "score", "value", "weight"], rows, { class: "sparse" });
}

function phraseAt(phrase) {
  return phrase ? `${phrase.source} → ${phrase.target || "∅"}` : "";
}
