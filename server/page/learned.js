// What a project has learned, the latest first, each of it to be taken back.

import { latestSegments, undoSegment } from "./api.js";
import { byId, element } from "./dom.js";

const SHOWN = 50;

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
  return element("li", {}, element("bdi", {}, source), " → ", element("bdi", {}, translation), " ", take);
}
