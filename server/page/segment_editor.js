// The segment that is worked on: source, what it is like, and its translation, suggested and then edited.

import { element, fill, percent } from "./dom.js";
import { onEnter, replaceText } from "./editing.js";

export class SegmentEditor {
  /** `actions`: confirm(text), move(step), explain(). */
  constructor(segment, text, actions) {
    this.actions = actions;
    this.match = element("p", { class: "match hint" });
    this.hint = element("p", { class: "hint" });
    this.field = element("textarea", { class: "target", dir: "auto", rows: 2, "aria-label": "translation", spellcheck: false });
    this.field.value = text;
    this.suggested = null; // what the server has suggested, so that typed text is not replaced
    this.again = button("Take suggestion", () => replaceText(this.field, this.suggested ?? ""));
    this.again.disabled = true;
    this.root = element(
      "div",
      { class: "editor" },
      element("p", { class: "source", dir: "auto" }, segment.text),
      this.match,
      this.field,
      this.hint,
      element(
        "div",
        { class: "row" },
        element("button", { type: "button", class: "main confirm", onclick: () => this.confirm() }, "Confirm"),
        this.again,
        button("Copy source", () => replaceText(this.field, segment.text)),
        button("Explain", () => actions.explain()),
      ),
    );
    onEnter(this.field, () => this.confirm());
    this.field.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!event.altKey || step === undefined) return;
      event.preventDefault();
      actions.move(step);
    });
  }

  /** Show what the server suggests; in the field, unless something else is there. */
  suggest({ text, match, words, unknown, doubtful }) {
    const isUntouched = this.field.value === "" || this.field.value === this.suggested;
    this.suggested = text;
    this.again.disabled = false;
    if (isUntouched) {
      this.field.value = text;
      if (document.activeElement === this.field) this.field.setSelectionRange(text.length, text.length);
    }
    if (match) {
      const share = element("strong", {}, percent(match.similarity));
      const pair = [element("bdi", {}, match.source), " → ", element("bdi", {}, match.translation)];
      fill(this.match, share, match.origin ? ` of ${match.origin} like ` : " like ", pair);
    }
    const notKnown = unknown.length && [`${unknown.length} of ${words} words unknown: `, ...listed(unknown), ". "];
    const notSure = doubtful.length && ["Look at: ", ...listed(doubtful.map(({ word, confidence }) => `${word} (${percent(confidence)})`))];
    fill(this.hint, notKnown || null, notSure || null);
  }

  tell(message) {
    this.hint.textContent = message;
  }

  confirm() {
    if (this.field.value.trim()) this.actions.confirm(this.field.value.trim());
    else this.tell("Type a translation before you confirm.");
  }
}

/** Texts with commas between them, each in its own direction. */
function listed(texts) {
  return texts.flatMap((text, number) => [number ? ", " : null, element("bdi", {}, text)]);
}

function button(text, act) {
  return element("button", { type: "button", onclick: act }, text);
}
