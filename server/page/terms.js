// Terms: words of the sentence and the translations that they must have.

import { byId, element } from "./dom.js";
import { onEnter } from "./editing.js";

let change = () => {};
let finish = () => {};

/** Call `changed` when a term is typed, and `done` when all of it is there, or when it is removed. */
export function termsChanged(changed, done) {
  change = changed;
  finish = done;
}

/** A row for a term; one of the same words takes the place of the one before. */
export function putTerm(source, target) {
  const old = rows().find((row) => source && field(row, "source").value.trim() === source);
  if (old) {
    field(old, "target").value = target;
    return old;
  }
  const remove = () => {
    row.remove();
    finish();
  };
  const row = element(
    "div",
    { class: "row term" },
    input("source", "words of the sentence", "words", source),
    "→",
    input("target", "their translation", "translation", target),
    element("button", { type: "button", "aria-label": "Remove this term", onclick: remove }, "×"),
  );
  byId("term-list").append(row);
  return row;
}

function input(side, label, placeholder, value) {
  const made = element("input", {
    class: `term-${side}`,
    "aria-label": label,
    placeholder,
    dir: "auto",
    oninput: () => change(),
    onchange: () => terms().length && finish(),
  });
  made.value = value;
  onEnter(made, () => finish());
  return made;
}

/** Show these terms, pairs of texts, in place of those that are there. */
export function setTerms(pairs) {
  byId("term-list").replaceChildren();
  for (const pair of pairs) putTerm(...pair);
  byId("terms").open = pairs.length > 0;
}

/** The terms that were typed, as the server takes them. */
export function terms() {
  const typed = rows().map((row) => ({ source: field(row, "source").value.trim(), target: field(row, "target").value.trim() }));
  return typed.filter((term) => term.source && term.target);
}

/** The words of terms that a sentence does not have. */
export function missingTerms(text) {
  const words = text.toLowerCase();
  return terms().map((term) => term.source).filter((source) => !words.includes(source.toLowerCase()));
}

function rows() {
  return [...byId("term-list").children];
}

function field(row, side) {
  return row.querySelector(`.term-${side}`);
}
