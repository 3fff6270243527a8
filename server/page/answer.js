// The answer of one model: the translation as phrases, and what can be asked about it in tabs below.

import { compare, explainSearch, isReplaced } from "./api.js";
import { element, fill, score } from "./dom.js";
import { copyText } from "./editing.js";
import { featureBars } from "./features.js";
import { joinedPhrases } from "./phrases.js";
import { nbestList } from "./nbest.js";
import { phraseBlocks } from "./phrase_blocks.js";
import { phrasePanel } from "./phrase_panel.js";
import { searchPanel } from "./search.js";
import { sparsePanel } from "./sparse.js";
import { Tabs } from "./tabs.js";

const LONGEST_ROW = 40; // words; longer sentences are shown in blocks that wrap

export class AnswerView {
  /** `explorer` has fix(words, translation) and take(text), for what is clicked. */
  constructor(model, explorer) {
    Object.assign(this, { model, explorer });
    this.root = element("article", { "aria-label": `Model ${model}`, "data-model": model });
    this.question = 0; // number of the latest one, so that late answers to earlier ones are left out
  }

  /** Show what the server answered to a question. */
  show(answer, asked) {
    Object.assign(this, { asked, answer, explanation: answer.explanation });
    this.question += 1;
    const { best, least_risk: leastRisk } = this.explanation;
    this.tabs = new Tabs(this.model, {
      Phrase: () => element("p", { class: "hint" }, "Choose a phrase above."),
      Score: () => this.scorePanel(1),
      "N-best": () => this.nbestPanel(),
      Search: () => this.searchPanel(),
      Sparse: () => sparsePanel(best),
    });
    const total = element(
      "button",
      { type: "button", class: "total", title: "features times weights", onclick: () => this.showScore(1) },
      `score ${score(best.score)}`,
    );
    const title = element("h2", {}, this.model, " ", element("small", {}, answer.version));
    const text = answer.text ?? best.text;
    const diagram = this.explanation.source.length > LONGEST_ROW ? phraseBlocks : joinedPhrases;
    this.diagram = diagram(this.explanation, (number) => this.showPhrase(number));
    fill(
      this.root,
      element("div", { class: "row title" }, title, total),
      element("p", { class: "text", dir: "auto" }, text),
      element(
        "p",
        { class: "row" },
        element("button", { type: "button", class: "copy", onclick: () => copyText(text) }, "Copy"),
        element("button", { type: "button", onclick: () => this.explorer.take(text) }, "Edit"),
        element("span", { class: "hint" }, unknownWords(best)),
      ),
      leastRisk !== null && leastRisk !== best.text && element("p", { class: "hint" }, `minimum Bayes risk: ${leastRisk}`),
      this.diagram.root,
      this.tabs.root,
    );
    if (best.phrases.length) this.showPhrase(0);
  }

  /** Draw what depends on places, once it is on the page. */
  draw() {
    this.diagram.draw();
  }

  showPhrase(number) {
    const fix = (source, target) => this.explorer.fix(source, target);
    this.tabs.show("Phrase", phrasePanel(this.explanation.best, number, fix));
  }

  nbestPanel() {
    const { nbest } = this.explanation;
    const take = (number) => this.explorer.take(this.answer.nbest_texts[number]);
    return nbestList(nbest, take, (number) => this.showScore(number));
  }

  /** The search, asked for when it is first looked at. */
  searchPanel() {
    const panel = element("div", {}, element("p", { class: "hint" }, "Searching …"));
    explainSearch(this.model, this.asked).then(
      ({ explanation }) => panel.replaceChildren(searchPanel(explanation)),
      (error) => isReplaced(error) || panel.replaceChildren(element("p", { class: "error" }, error.message)),
    );
    return panel;
  }

  showScore(number) {
    this.tabs.show("Score", this.scorePanel(number));
  }

  /** The features of the best translation, against the one of that number in the n-best list. */
  scorePanel(number) {
    const other = this.explanation.nbest[number];
    return featureBars(this.explanation.best, other && { title: `compared with number ${number + 1}: ${other.text}`, ...other });
  }

  /** Ask why the model does, or does not, say what was written. */
  async compareWith(written) {
    const question = this.question;
    try {
      const { comparison } = await compare(this.model, this.asked, written);
      if (question === this.question) this.tabs.show("Score", this.comparisonPanel(comparison));
    } catch (error) {
      if (!isReplaced(error)) this.tabs.show("Score", element("p", { class: "error" }, error.message));
    }
  }

  comparisonPanel(comparison) {
    const verdict = element("p", { class: "verdict", "data-verdict": comparison.verdict }, comparison.reason);
    if (comparison.translation === null) return element("div", {}, verdict, missingWords(comparison, this.explanation));
    const other = { title: `compared with yours: ${comparison.given}`, ...comparison, score: comparison.translation.score };
    return element("div", {}, verdict, featureBars(this.explanation.best, other));
  }
}

/** How many words no phrase pair has, "" where there are none. */
function unknownWords({ phrases }) {
  const unknown = phrases.filter((phrase) => phrase.is_unknown).map((phrase) => phrase.source);
  const count = phrases.reduce((sum, { source_span: span }) => sum + span[1] - span[0], 0);
  return unknown.length ? `${unknown.length} of ${count} words unknown: ${unknown.join(", ")}` : "";
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
      element("p", { class: "hint" }, "not in any phrase pair for this sentence: ", element("bdi", {}, missing.unknown.join(", "))),
  );
}
