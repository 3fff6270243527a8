// The explorer: a sentence is asked about, each chosen model answers, and a translation may be written below.

import { explain, isReplaced } from "./api.js";
import { writeAddress } from "./address.js";
import { AnswerView } from "./answer.js";
import { aside, chosen, examples, showVersion } from "./choices.js";
import { byId, element, fill } from "./dom.js";
import { oneLine, onEnter, replaceText } from "./editing.js";
import { missingTerms, putTerm, setTerms, terms, termsChanged } from "./terms.js";
import { Writing } from "./writing.js";

const BEGIN = "Type a sentence in the source language.";

export class Explorer {
  constructor() {
    this.views = new Map(); // AnswerView by name of model
    this.asked = ""; // the latest question
    this.writing = new Writing(this);
    const submit = (event) => {
      event.preventDefault();
      this.ask();
    };
    byId("ask").addEventListener("submit", submit);
    onEnter(byId("source"), () => this.ask());
    byId("source").addEventListener("input", () => this.dim());
    byId("add-term").addEventListener("click", () => putTerm("", "").querySelector("input").focus());
    termsChanged(() => this.dim(), () => this.ask());
  }

  /** The sentence as the server takes it, or null where nothing was typed. */
  sentence() {
    const text = oneLine(byId("source").value);
    return text ? { text, terms: terms() } : null;
  }

  /** What a model is asked. */
  questionTo(name) {
    return { ...this.sentence(), ...aside(name) };
  }

  /** All that an answer depends on, as a string. */
  question() {
    return JSON.stringify(chosen().map((name) => [name, this.questionTo(name)]));
  }

  tell(text, isError = false) {
    byId("status").textContent = text;
    byId("status").classList.toggle("error", isError);
  }

  /** Show what the address says. */
  restore(address) {
    if (!address.sentence || address.sentence === oneLine(byId("source").value)) {
      if (!byId("source").value) this.begin();
      return;
    }
    byId("source").value = address.sentence;
    setTerms(address.terms);
    this.ask();
  }

  /** Tell what to do, and what to try. */
  begin() {
    this.tell(BEGIN);
    const buttons = examples().map((text) =>
      element("button", { type: "button", class: "example", dir: "auto", onclick: () => this.askAbout(text) }, text),
    );
    byId("examples").hidden = !buttons.length;
    fill(byId("examples"), "Or try ", buttons);
  }

  askAbout(text) {
    byId("source").value = text;
    this.ask();
  }

  choicesChanged() {
    this.ask();
  }

  /** What is below no longer belongs to what was typed. */
  dim() {
    byId("answers").classList.toggle("stale", this.asked !== this.question());
  }

  /** Ask all chosen models about the sentence. */
  async ask() {
    const names = chosen();
    const sentence = this.sentence();
    if (sentence?.text !== this.text) this.writing.forget();
    this.text = sentence?.text;
    this.asked = this.question();
    writeAddress({ sentence: sentence?.text ?? "", terms: (sentence?.terms ?? []).map((one) => [one.source, one.target]) });
    for (const name of [...this.views.keys()].filter((one) => !names.includes(one))) this.views.delete(name);
    if (sentence === null || !names.length) {
      this.show([]);
      return sentence === null ? this.begin() : this.tell("Choose a model.");
    }
    byId("examples").hidden = true;
    byId("answers").classList.add("stale");
    this.tell("Translating …");
    const begin = performance.now();
    const asked = this.asked;
    const found = await Promise.allSettled(names.map((name) => this.answer(name)));
    if (asked !== this.asked || found.some((one) => one.reason && isReplaced(one.reason))) return undefined;
    this.show(names.filter((_, i) => found[i].status === "fulfilled"));
    const failed = found.find((one) => one.reason);
    if (failed) return this.tell(failed.reason.message, true);
    const missing = missingTerms(sentence.text).map((one) => `“${one}”`).join(", ");
    return this.tell(`${Math.round(performance.now() - begin)} ms${missing && ` · terms not in the sentence: ${missing}`}`);
  }

  async answer(name) {
    const question = this.questionTo(name);
    const answer = await explain(name, question);
    if (!this.views.has(name)) this.views.set(name, new AnswerView(name, this));
    this.views.get(name).show(answer, question);
    showVersion(name, answer.version).catch(() => {}); // a model's description is no reason to lose the answer
  }

  show(names) {
    byId("answers").replaceChildren(...names.map((name) => this.views.get(name).root));
    byId("answers").classList.remove("stale");
    for (const name of names) this.views.get(name).draw();
  }

  /** Have words of the sentence translated so, and all else anew. */
  fix(source, target) {
    byId("terms").open = true;
    putTerm(source, target);
    this.ask();
  }

  /** Take a translation over as the reader's own. */
  take(text) {
    replaceText(byId("translation"), text);
  }

  /** Compare what was written with what each chosen model found. */
  async compare(written) {
    if (this.sentence() === null) return;
    if (this.asked !== this.question()) await this.ask();
    await Promise.all([...this.views.values()].map((view) => view.compareWith(written)));
    byId("answers").scrollIntoView({ block: "nearest" });
  }
}
