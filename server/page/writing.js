// A translation that a person writes: completed by the model with each key, and compared with what it found.

import { complete, isReplaced } from "./api.js";
import { chosen } from "./choices.js";
import { byId, element } from "./dom.js";
import { appendText, oneLine, onEnter, replaceText } from "./editing.js";

const PAUSE = 120; // milliseconds after a key before the model is asked

export class Writing {
  constructor(explorer) {
    this.explorer = explorer;
    this.field = byId("translation");
    this.rest = ""; // what the model suggests behind what was typed
    this.timer = 0;
    this.field.addEventListener("input", () => this.later());
    this.field.addEventListener("focus", () => this.ask());
    this.field.addEventListener("keydown", (event) => this.key(event));
    onEnter(this.field, () => this.compare());
    byId("accept-word").addEventListener("click", () => this.acceptWord());
    byId("accept-all").addEventListener("click", () => this.acceptAll());
    byId("writing").addEventListener("submit", (event) => {
      event.preventDefault();
      this.compare();
    });
  }

  /** Leave nothing of a sentence before. */
  forget() {
    clearTimeout(this.timer);
    this.field.value = "";
    this.suggest("", []);
  }

  suggest(typed, completions) {
    this.rest = completions.length ? completions[0].rest : "";
    const [, word, others] = /^(\s*\S*)([^]*)$/.exec(this.rest);
    const shown = this.rest ? [element("span", { class: "typed" }, typed), element("mark", {}, word), others] : [];
    byId("suggestion").replaceChildren(...shown);
    this.enable(Boolean(this.rest));
    const items = completions.slice(1).map((one) => this.item(one.text, () => appendText(this.field, one.rest)));
    byId("completions").replaceChildren(...items);
  }

  /** Whether what is suggested can be accepted; while it cannot, it is dim, and stays where it is. */
  enable(isReady) {
    for (const id of ["accept-word", "accept-all"]) byId(id).disabled = !isReady;
    for (const id of ["suggestion", "completions"]) byId(id).classList.toggle("stale", !isReady);
    byId("completions").inert = !isReady;
  }

  item(text, choose) {
    return element("li", {}, element("button", { type: "button", class: "link", dir: "auto", onclick: choose }, text));
  }

  acceptWord() {
    appendText(this.field, /^\s*\S*/.exec(this.rest)[0]);
  }

  acceptAll() {
    appendText(this.field, this.rest);
  }

  async ask() {
    const model = chosen()[0];
    const typed = this.field.value;
    if (this.explorer.sentence() === null || model === undefined) return this.suggest(typed, []);
    const question = this.explorer.questionTo(model);
    try {
      const answer = await complete(model, question, typed);
      const isSame = JSON.stringify(question) === JSON.stringify(this.explorer.questionTo(model));
      if (this.field.value === typed && isSame) this.suggest(typed, answer.completions);
    } catch (error) {
      if (isReplaced(error)) return undefined;
      this.suggest(typed, []);
      this.explorer.tell(error.message, true);
    }
    return undefined;
  }

  later() {
    if (/\n/.test(this.field.value)) replaceText(this.field, oneLine(this.field.value));
    this.rest = ""; // what was suggested no longer fits
    this.enable(false);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), PAUSE);
  }

  key(event) {
    const isAtEnd = this.field.selectionStart === this.field.value.length;
    if (event.key === "Tab" && !event.shiftKey && this.rest && isAtEnd) this.acceptWord();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && this.rest) this.acceptAll();
    // Afterwards the tab key leaves the field.
    else if (event.key === "Escape" && this.rest) this.suggest(this.field.value, []);
    else return;
    event.preventDefault();
  }

  compare() {
    if (this.field.value.trim()) this.explorer.compare(this.field.value.trim());
  }
}
