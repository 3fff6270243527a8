// A translation as phrases joined to the source words that they translate: two rows of words, and bands between them.

import { element, percent, svgElement } from "./dom.js";

const COLOURS = 6; // of style.css, used in turn
const HEIGHT = 64; // of the bands, in pixels
const DOUBTFUL = 0.5; // a word of a lower probability is marked; the same as in routes/suggestions.py

/** The two rows with their bands; `choose` is called with the number of a phrase that is clicked. */
export function joinedPhrases({ source, best }, choose) {
  const owner = new Array(source.length).fill(null); // phrase by source position
  best.phrases.forEach((phrase, number) => {
    for (let i = phrase.source_span[0]; i < phrase.source_span[1]; i += 1) owner[i] = number;
  });
  const words = source.map((word, i) =>
    element("span", { class: `word colour-${colourOf(owner[i])}`, "data-phrase": owner[i] }, word),
  );
  const buttons = best.phrases.map((phrase, number) => phraseButton(phrase, number, choose));
  const top = element("div", { class: "words", dir: "auto", role: "group", "aria-label": "source" }, words);
  const bottom = element("div", { class: "words", dir: "auto", role: "group", "aria-label": "translation" }, buttons);
  const bands = svgElement("svg", { class: "bands", width: 0, height: HEIGHT, "aria-hidden": "true" });
  const inner = element("div", { class: "diagram" }, top, bands, bottom);
  const root = element("div", { class: "scroll" }, inner);
  const draw = () => drawBands({ best, words, buttons, bands, inner });
  bottom.addEventListener("keydown", (event) => moveFocus(event, buttons));
  for (const event of ["mouseover", "focusin"]) inner.addEventListener(event, (one) => mark(inner, one.target));
  inner.addEventListener("mouseleave", () => mark(inner, null));
  new ResizeObserver(draw).observe(inner);
  return { root, draw };
}

export function colourOf(number) {
  return number === null ? "none" : number % COLOURS;
}

export function phraseButton(phrase, number, choose) {
  const kind = phrase.is_copied ? " copied" : phrase.is_fallback ? " fallback" : "";
  const source = phrase.is_unknown ? `the unknown word ${phrase.source}` : phrase.source;
  const title = phrase.is_copied ? "an unknown word" : `for: ${source}`;
  const sure = phrase.confidences.map(percent).join(" ");
  return element(
    "button",
    {
      type: "button",
      class: `word colour-${colourOf(number)}${kind}`,
      "data-phrase": number,
      title: sure && !phrase.is_copied ? `${title}; probability of each word: ${sure}` : title,
      onclick: () => choose(number),
    },
    phrase.target ? targetWords(phrase) : "∅",
  );
}

/** The words of a phrase, of which those that are probably wrong are marked. */
function targetWords({ target, confidences }) {
  return target.split(" ").flatMap((word, i) => [
    i ? " " : null,
    confidences[i] < DOUBTFUL ? element("span", { class: "doubtful" }, word) : word,
  ]);
}

/** Arrow keys go from phrase to phrase, as they are seen. */
function moveFocus(event, buttons) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const isLeftwards = getComputedStyle(buttons[0].parentElement).direction === "rtl";
  const next = buttons[buttons.indexOf(document.activeElement) + (isLeftwards ? -step : step)];
  if (next) {
    event.preventDefault();
    next.focus();
  }
}

/** Make all parts of the phrase at hand stand out. */
export function mark(inner, target) {
  const number = target?.closest?.("[data-phrase]")?.dataset.phrase;
  for (const part of inner.querySelectorAll("[data-phrase]")) {
    part.classList.toggle("marked", part.dataset.phrase === number);
  }
}

/** Bands from the words, which lie where the browser has put them. */
function drawBands({ best, words, buttons, bands, inner }) {
  const left = inner.getBoundingClientRect().left;
  bands.setAttribute("width", 0); // so that the words alone say how wide all is
  bands.setAttribute("width", inner.scrollWidth);
  const shapes = best.phrases.map((phrase, number) => {
    const above = extent(words.slice(...phrase.source_span), left);
    const below = extent([buttons[number]], left);
    if (above === null) return null;
    return svgElement("path", {
      d: band(above, below),
      class: `band colour-${colourOf(number)}`,
      "data-phrase": number,
    });
  });
  bands.replaceChildren(...shapes.filter((shape) => shape !== null));
}

function extent(parts, left) {
  if (!parts.length) return null;
  const boxes = parts.map((part) => part.getBoundingClientRect());
  return [Math.min(...boxes.map((box) => box.left)) - left, Math.max(...boxes.map((box) => box.right)) - left];
}

/** A band with soft sides from [left, right] at the top to the same at the bottom. */
function band([a, b], [c, d]) {
  const middle = HEIGHT / 2;
  const right = `L ${b} 0 C ${b} ${middle} ${d} ${middle} ${d} ${HEIGHT}`;
  return `M ${a} 0 ${right} L ${c} ${HEIGHT} C ${c} ${middle} ${a} ${middle} ${a} 0 Z`;
}
