// The n-best list, and what makes the best one better.

import { element, score, table } from "./dom.js";

const SHOWN = 3; // differences of each

/** `take` and `compare` are called with the number of a translation: to take it over, and to see its features. */
export function nbestList(translations, take, compare) {
  const title = "Use as your translation";
  const button = (number, text) =>
    element("button", { type: "button", class: "link", dir: "auto", title, onclick: () => take(number) }, text);
  const rows = translations.map((one, number) => [
    element("span", { class: "rank" }, number + 1),
    button(number, one.text),
    number === 0 ? score(0) : lead(one.score - translations[0].score, () => compare(number)),
    element("span", { class: "detail" }, one.differences.slice(0, SHOWN).map(difference).join(", ")),
  ]);
  return table(["", "translation", "difference", "main cause"], rows, { class: "nbest" });
}

/** By how much a translation is worse, which a click explains. */
function lead(value, compare) {
  return element("button", { type: "button", class: "link number", title: "Why?", onclick: compare }, score(value));
}

function difference(one) {
  return `${one.title} ${score(-one.score, 2)}`;
}
