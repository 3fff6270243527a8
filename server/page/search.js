// The search, stack by stack: what each kept, what was recombined, and what it lost and why.

import { element, score, table } from "./dom.js";

const REASONS = { beam: "below the beam threshold", stack: "stack full", "not tried": "not built by cube pruning" };

export function searchPanel({ source, stacks }) {
  if (!stacks.length) return element("p", { class: "hint" }, "An empty sentence has no stacks.");
  const shown = element("div", {});
  const most = Math.max(...stacks.map((stack) => stack.n_tried), 1);
  const buttons = stacks.map((stack) => stackButton(stack, most, () => choose(stack.covered - 1)));
  function choose(number) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === number));
    shown.replaceChildren(stackTables(stacks[number], source));
  }
  choose(stacks.length - 1);
  const hint = "A stack for each number of translated words. Bars: hypotheses that were kept, recombined and lost (pruned).";
  return element("div", {}, element("p", { class: "hint" }, hint), element("div", { class: "stacks" }, buttons), shown);
}

function stackButton(stack, most, choose) {
  const { covered, n_kept: kept, n_recombined: recombined, n_lost: lost } = stack;
  const title = `${covered} words: ${kept} kept, ${recombined} recombined, ${lost} lost`;
  const parts = Object.entries({ lost, recombined, kept }).map(([name, count]) => {
    const part = element("span", { class: name });
    // Roots, since what is lost is a hundred times what is kept.
    part.style.setProperty("--share", Math.sqrt(count / most));
    return part;
  });
  return element(
    "button",
    { type: "button", class: "stack", title, "aria-label": title, onclick: choose },
    parts,
    element("span", { class: "count" }, covered),
  );
}

function stackTables(stack, source) {
  const priority = (one) => one.score + one.future;
  const kept = stack.kept.map((one) => [
    coverage(one.coverage, source, one.is_on_best),
    marked(one.text, one.target, one.is_on_best),
    priority(one),
    one.score,
    one.future,
    `${one.n_recombined}`,
  ]);
  const recombined = stack.recombined.map((one) => [marked(one.text, one.target), one.loss.toFixed(3), one.score]);
  const lost = stack.lost.map((one) => [
    marked(one.text, one.target),
    priority(one),
    REASONS[one.reason] + (one.missing ? `, by ${one.missing.toFixed(3)}` : ""),
  ]);
  const limits = [
    stack.worst !== null && `worst hypothesis kept: ${score(stack.worst)}`,
    stack.beam !== null && `beam threshold: ${score(stack.beam)}`,
    stack.is_full && "the stack is full",
  ].filter(Boolean);
  return element(
    "div",
    { class: "stack-tables" },
    heading(`Kept: ${stack.n_kept} of ${stack.n_tried}`, kept.length, stack.n_kept),
    element("p", { class: "hint" }, limits.join(" · ")),
    table(["words", "translation so far", "with future cost", "score", "future cost", "recombined"], kept),
    heading(`Recombined: ${stack.n_recombined}`, recombined.length, stack.n_recombined),
    recombined.length > 0 && table(["translation so far", "worse by", "score"], recombined),
    heading(`Lost: ${stack.n_lost}`, lost.length, stack.n_lost),
    lost.length > 0 && table(["translation so far", "with future cost", "why"], lost),
  );
}

function heading(text, shown, all) {
  return element("h3", {}, text, shown < all && element("small", {}, ` the best ${shown}`));
}

/** A square for each source word, filled where it is translated. */
function coverage(positions, source, isOnBest) {
  const squares = source.map((word, i) => element("span", { class: positions.includes(i) ? "full" : null, title: word }));
  const label = `translated: ${positions.map((i) => source[i]).join(" ")}`;
  return element("span", { class: isOnBest ? "coverage best" : "coverage", role: "img", "aria-label": label }, squares);
}

/** A translation so far, its last phrase marked. */
function marked(text, last, isOnBest = false) {
  const before = text.slice(0, text.length - last.length);
  return element("span", { dir: "auto", class: isOnBest ? "best" : null }, before, element("mark", {}, last));
}
