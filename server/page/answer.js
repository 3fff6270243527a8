// The answer of one model: the translation as phrases, and what can be asked about it in tabs below.

import { compare, isReplaced } from "./api.js";
import { element, fill, score } from "./dom.js";
import { featureBars } from "./features.js";
import { joinedPhrases } from "./phrases.js";
import { nbestList } from "./nbest.js";
import { phrasePanel } from "./phrase_panel.js";
import { searchPanel } from "./search.js";
import { sparsePanel } from "./sparse.js";
import { Tabs } from "./tabs.js";

export class AnswerView {
  constructor(model) {
    this.model = model;
    this.root = element("article", { "aria-label": `Model ${model}`, "data-model": model });
    this.question = 0; // number of the latest one, so that late answers to earlier ones are left out
  }

  /** Show what the server answered about a sentence. */
  show(answer, sentence, raw) {
    Object.assign(this, { sentence, raw, explanation: answer.explanation });
    this.question += 1;
    const { best, least_risk: leastRisk } = this.explanation;
    this.tabs = new Tabs(this.model, {
      Phrase: () => element("p", { class: "hint" }, "Choose a phrase above."),
      Score: () => this.scorePanel(1),
      "N-best": () => nbestList(this.explanation.nbest, (number) => this.showScore(number)),
      Search: () => searchPanel(this.explanation),
      Sparse: () => sparsePanel(best),
    });
    const total = element(
      "button",
      { type: "button", class: "total", title: "features times weights", onclick: () => this.showScore(1) },
      `score ${score(best.score)}`,
    );
    const title = element("h2", {}, this.model, " ", element("small", {}, answer.version));
    this.diagram = joinedPhrases(this.explanation, (number) => this.showPhrase(number));
    fill(
      this.root,
      element("div", { class: "row title" }, title, total),
      element("p", { class: "text", dir: "auto" }, answer.text ?? best.text),
      leastRisk !== null && leastRisk !== best.text && element("p", { class: "hint" }, `least Bayes risk: ${leastRisk}`),
      this.diagram.root,
      this.tabs.root,
    );
    this.diagram.draw();
    if (best.phrases.length) this.tabs.show("Phrase", phrasePanel(best, 0));
  }

  showPhrase(number) {
    this.tabs.show("Phrase", phrasePanel(this.explanation.best, number));
  }

  showScore(number) {
    this.tabs.show("Score", this.scorePanel(number));
  }

  /** The features of the best translation, against the one of that number in the n-best list. */
  scorePanel(number) {
    const other = this.explanation.nbest[number];
    return featureBars(this.explanation.best, other && { title: `against number ${number + 1}: ${other.text}`, ...other });
  }

  /** Ask why the model does, or does not, say what was written. */
  async compareWith(written) {
    const question = this.question;
    try {
      const { comparison } = await compare(this.model, this.sentence, this.raw, written);
      if (question === this.question) this.tabs.show("Score", this.comparisonPanel(comparison));
    } catch (error) {
      if (!isReplaced(error)) this.tabs.show("Score", element("p", { class: "error" }, error.message));
    }
  }

  comparisonPanel(comparison) {
    const verdict = element("p", { class: "verdict", "data-verdict": comparison.verdict }, comparison.reason);
    if (comparison.translation === null) return element("div", {}, verdict, missingWords(comparison, this.explanation));
    const other = { title: `against yours: ${comparison.given}`, ...comparison, score: comparison.translation.score };
    return element("div", {}, verdict, featureBars(this.explanation.best, other));
  }
}

/** What of a translation a model can produce, and what not. */
function missingWords({ missing, given }, { source }) {
  if (missing === null) return element("p", { dir: "auto" }, given);
  const left = missing.untranslated.map((position) => source[position]).join(" ");
  return element(
    "div",
    {},
    element("p", { dir: "auto" }, element("ins", {}, missing.produced), " ", element("del", {}, missing.rest)),
    left && element("p", { class: "hint" }, "left to translate: ", element("bdi", {}, left)),
    missing.unknown.length > 0 &&
      element("p", { class: "hint" }, "in no phrase pair of the sentence: ", element("bdi", {}, missing.unknown.join(", "))),
  );
}
