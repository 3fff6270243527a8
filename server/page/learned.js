// What a project has learned, the latest first, each of it to be taken back.

import { latestSegments, undoSegment } from "./api.js";
import { byId, element } from "./dom.js";

const SHOWN = 50;
const REFERENCES = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };

/** Show it; `undone` is called with the number of a segment that was taken back. */
export async function showLearned(model, project, undone) {
  byId("learned").hidden = !project;
  if (!project) return;
  const { total, segments } = await latestSegments(model, project, SHOWN);
  byId("learned-count").textContent = total === 1 ? "1 segment" : `${total} segments`;
  const undo = async (number) => {
    await undoSegment(model, project, number);
    undone(number);
  };
  byId("learned-list").replaceChildren(...segments.reverse().map((one) => item(one, undo)));
}

function item({ number, source, translation }, undo) {
  const take = element("button", { type: "button", "aria-label": `Undo ${number}`, onclick: () => undo(number) }, "Undo");
  const [from, to] = [source, translation].map((tokens) => element("bdi", {}, unescaped(tokens)));
  return element("li", {}, from, " → ", to, " ", take);
}

/** Tokens without the references of HTML that they have in place of some signs. */
function unescaped(tokens) {
  const character = (whole, name) => REFERENCES[name] ?? String.fromCodePoint(name.slice(1));
  return tokens.replace(/&(amp|apos|gt|lt|quot|#(?:32|91|93|124));/g, character);
}
