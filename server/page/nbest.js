// The n-best list, and what makes the best one better.

import { element, score, table } from "./dom.js";

const SHOWN = 3; // differences of each

/** `choose` is called with the number of a translation whose features are to be compared. */
export function nbestList(translations, choose) {
  const rows = translations.map((one, number) => [
    number + 1,
    number === 0
      ? one.text
      : element("button", { type: "button", class: "link", dir: "auto", onclick: () => choose(number) }, one.text),
    one.score - translations[0].score,
    element("span", { class: "detail" }, one.differences.slice(0, SHOWN).map(difference).join(", ")),
  ]);
  const cells = rows.map(([rank, ...rest]) => [element("span", { class: "rank" }, rank), ...rest]);
  return table(["", "translation", "difference", "most of it"], cells, { class: "nbest" });
}

function difference(one) {
  return `${one.name} ${score(-one.score, 2)}`;
}
