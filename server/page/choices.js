// What is chosen for both tabs: models, whether text is raw, and the project.

import { models, named, projects } from "./api.js";
import { writeAddress } from "./address.js";
import { byId, element } from "./dom.js";

const PROJECT = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}$/;
const known = new Map(); // models by name

/** Show the models and projects that the server has, those of the address chosen. */
export async function showChoices(address) {
  known.clear();
  for (const model of await models()) known.set(model.name, model);
  const wanted = address.models.filter((name) => known.has(name));
  byId("models").querySelectorAll("label").forEach((label) => label.remove());
  for (const [number, model] of [...known.values()].entries()) {
    const checked = wanted.length ? wanted.includes(model.name) : number === 0;
    const input = element("input", { type: "checkbox", value: model.name, checked });
    const label = element("label", { class: "choice", title: described(model) }, input, ` ${model.name}`);
    byId("models").append(label);
  }
  byId("raw").checked = address.raw;
  const { is_kept: isKept } = await showProjects();
  byId("project-choice").hidden = !isKept;
  byId("project").value = isKept ? address.project : "";
  tellKind();
  return isKept;
}

/** An answer came from a version of a model: where it is a new one, what is told of the model is asked for anew. */
export async function showVersion(name, version) {
  if (known.get(name)?.version === version) return;
  for (const model of await models()) {
    if (known.has(model.name)) known.set(model.name, model);
  }
  for (const label of byId("models").querySelectorAll("label")) {
    label.title = described(known.get(label.querySelector("input").value));
  }
  tellKind();
}

/** Show the projects of the first model. */
export async function showProjects() {
  const name = chosen()[0] ?? known.keys().next().value;
  const found = await projects(name);
  byId("projects").replaceChildren(...found.projects.map((one) => element("option", { value: one })));
  return found;
}

/** Call `ask` when something else is chosen. */
export function onChoice(ask) {
  const change = () => {
    tellKind();
    writeAddress({ models: chosen(), project: project(), raw: byId("raw").checked });
    ask();
  };
  byId("models").addEventListener("change", () => {
    showProjects().catch(() => {}); // whatever is wrong is told by what is asked next
    change();
  });
  byId("raw").addEventListener("change", change);
  byId("project").addEventListener("change", () => {
    const isName = !byId("project").value || PROJECT.test(byId("project").value);
    byId("project").setCustomValidity(isName ? "" : "Letters, digits and . _ + -; the first must be a letter, a digit or _");
    if (byId("project").reportValidity()) change();
  });
}

/** Names of the models that are chosen, in their order. */
export function chosen() {
  return [...document.querySelectorAll("#models input:checked")].map((input) => input.value);
}

/** The project whose confirmed translations count, "" for none. */
export function project() {
  return byId("project").value.trim();
}

/** A model of the other direction, by name; undefined where none is served. */
export function opposite(name) {
  const { source_language: source, target_language: target } = known.get(name);
  const isOther = (one) => source && one.source_language === target && one.target_language === source;
  return [...known.values()].find(isOther)?.name;
}

/** Choose that model alone, as if it was clicked. */
export function chooseModel(name) {
  for (const input of document.querySelectorAll("#models input")) input.checked = input.value === name;
  byId("models").dispatchEvent(new Event("change"));
}

/** Whether a model is given raw text. */
export function isRaw(name) {
  return Boolean(known.get(name)?.raw) && byId("raw").checked;
}

/** What a question to a model is, besides the sentence. */
export function aside(name) {
  return { raw: isRaw(name), ...named(project()) };
}

/** Text to try the first chosen model with. */
export function examples() {
  return known.get(chosen()[0])?.examples ?? [];
}

/** Tell what languages and what text the chosen models take. */
function tellKind() {
  const all = chosen().map((name) => known.get(name));
  byId("raw-choice").hidden = !all.some((model) => model.raw);
  const pairs = new Set(all.map(languages).filter(Boolean));
  const tokens = all.filter((model) => !isRaw(model.name)).map((model) => model.name);
  const kind = tokens.length
    ? `${tokens.join(", ")}: tokens separated by spaces, as in the training text, usually in lower case.`
    : "Raw text, as people write it.";
  byId("kind").textContent = all.length ? [...pairs, kind].join(" · ") : "Choose a model.";
}

function languages(model) {
  return model.source_language_name ? `${model.source_language_name} → ${model.target_language_name}` : "";
}

function described(model) {
  return [languages(model), `${model.phrase_pairs.toLocaleString("en")} phrase pairs`].filter(Boolean).join(", ");
}
