// Terms: words of the sentence and the translations that they must have.

import { byId, element } from "./dom.js";

/** One more row for a term. */
export function addTerm() {
  const row = element(
    "div",
    { class: "row term" },
    element("input", { class: "term-source", "aria-label": "words of the sentence", placeholder: "words", dir: "auto" }),
    "→",
    element("input", { class: "term-target", "aria-label": "their translation", placeholder: "translation", dir: "auto" }),
    element("button", { type: "button", "aria-label": "Remove this term", onclick: () => row.remove() }, "×"),
  );
  byId("term-list").append(row);
  row.querySelector("input").focus();
}

/** The terms that were typed, as the server takes them. */
export function terms() {
  const rows = [...byId("term-list").children].map((row) => ({
    source: row.querySelector(".term-source").value.trim(),
    target: row.querySelector(".term-target").value.trim(),
  }));
  return rows.filter((term) => term.source && term.target);
}
