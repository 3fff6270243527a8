// Bars to the left and right of zero, with their numbers: one row for each name.

import { element, score } from "./dom.js";

/** Rows of { name, value, title, parts }; all bars have one scale. */
export function barTable(rows, label) {
  const largest = Math.max(1e-9, ...rows.map((row) => Math.abs(row.value)));
  const lines = rows.map((row) => {
    const bar = element("span", { class: row.value < 0 ? "bar below" : "bar above" });
    bar.style.setProperty("--share", Math.abs(row.value) / largest);
    return element(
      "tr",
      { title: row.title },
      element("th", { scope: "row" }, row.name),
      element("td", { class: "number" }, score(row.value)),
      element("td", { class: "axis", "aria-hidden": "true" }, bar),
      (row.parts ?? []).map((part) => element("td", { class: "number detail" }, part)),
    );
  });
  return element("table", { class: "bars", "aria-label": label }, element("tbody", {}, lines));
}
