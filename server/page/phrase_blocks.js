// A long translation as blocks that wrap: each phrase of it below the source words that it translates.

import { element } from "./dom.js";
import { colourOf, mark, phraseButton } from "./phrases.js";

/** The blocks in the order of the translation; `choose` is called with the number of a phrase that is clicked. */
export function phraseBlocks({ best }, choose) {
  const blocks = best.phrases.map((phrase, number) =>
    element(
      "span",
      { class: "block" },
      element("span", { class: `word colour-${colourOf(number)}`, dir: "auto", "data-phrase": number }, phrase.source),
      phraseButton(phrase, number, choose),
    ),
  );
  const root = element("div", { class: "blocks", dir: "auto", role: "group", "aria-label": "translation" }, blocks);
  for (const event of ["mouseover", "focusin"]) root.addEventListener(event, (one) => mark(root, one.target));
  root.addEventListener("mouseleave", () => mark(root, null));
  return { root, draw: () => {} };
}
