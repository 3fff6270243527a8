// Sparse features that fired, each with the phrase that it fired at.

import { element, table } from "./dom.js";

const SHOWN = 200; // at first

export function sparsePanel({ sparse, phrases }) {
  if (!sparse.length) {
    return element("p", { class: "hint" }, "None fired. train-maxforce and train-ranking give a model sparse features.");
  }
  const rows = sparse.slice(0, SHOWN).map((one) => [
    one.name,
    phrases[one.phrase] ? `${phrases[one.phrase].source} → ${phrases[one.phrase].target || "∅"}` : "",
    one.score,
    one.value,
    one.weight,
  ]);
  const count = element("p", { class: "hint" }, `${sparse.length} fired, those that matter most first`);
  return element("div", {}, count, table(["feature", "at", "score", "value", "weight"], rows, { class: "sparse" }));
}
