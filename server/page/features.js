// Features times weights: what the score of a translation is made of, and what makes it better than another one.

import { barTable } from "./bars.js";
import { element, score } from "./dom.js";

/** The features of a translation; `other` has a title, a score, and the differences from it, if there is one. */
export function featureBars(best, other) {
  const parts = [];
  if (other) {
    const margin = score(best.score - other.score);
    parts.push(element("h3", { dir: "auto" }, other.title), element("p", { class: "hint" }, `${margin} in total`));
    parts.push(other.differences.length ? differenceBars(other.differences) : element("p", {}, "The features are equal."));
  }
  parts.push(element("h3", {}, `Features times weights: ${score(best.score)}`), weightedBars(best.features));
  return element("div", {}, parts);
}

function differenceBars(differences) {
  const rows = differences.map((one) => ({
    name: one.title,
    value: one.score,
    title: `(${plain(one.value)} − ${plain(one.other)}) × ${plain(one.weight)}`,
    parts: [`${plain(one.value)} and ${plain(one.other)}`],
  }));
  return barTable(rows, "differences of features");
}

/** Bars of weighted features, those that are 0 left out. */
export function weightedBars(features) {
  const rows = features
    .filter((one) => one.score !== 0)
    .map((one) => ({
      name: one.title,
      value: one.score,
      title: `${plain(one.value)} × ${plain(one.weight)}`,
      parts: [`${plain(one.value)} × ${plain(one.weight)}`],
    }));
  return barTable(rows, "features times weights");
}

/** A number without needless digits. */
function plain(value) {
  return String(Number(value.toPrecision(4))).replace("-", "−");
}
