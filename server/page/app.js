// The page: a sentence is asked about, each chosen model answers, and a translation may be written below.

import { explain, isReplaced, models, useToken, wantsToken } from "./api.js";
import { AnswerView } from "./answer.js";
import { byId, element } from "./dom.js";
import { addTerm, terms } from "./terms.js";
import { startWriting } from "./writing.js";

const views = new Map(); // AnswerView by name of model
let asked = ""; // the latest question

/** The sentence as the server takes it, or null where nothing was typed. */
function sentence() {
  const text = byId("source").value.trim().replace(/\s*\n\s*/g, " ");
  return text ? { text, terms: terms() } : null;
}

/** Names of the models that are chosen, in their order. */
function chosen() {
  return [...document.querySelectorAll("#models input:checked")].map((input) => input.value);
}

/** All that an answer depends on, as a string. */
function question() {
  return JSON.stringify([sentence(), chosen(), isRaw()]);
}

function isRaw() {
  return byId("raw").checked && !byId("raw-choice").hidden;
}

function tell(text, isError = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("error", isError);
}

async function showModels() {
  const known = await models();
  byId("models").querySelectorAll("label").forEach((label) => label.remove());
  for (const [number, model] of known.entries()) {
    const input = element("input", { type: "checkbox", value: model.name, checked: number === 0, onchange: ask });
    const title = `${model.phrase_pairs.toLocaleString("en")} phrase pairs, version ${model.version}`;
    byId("models").append(element("label", { class: "choice", title }, input, ` ${model.name}`));
  }
  byId("raw-choice").hidden = !known.every((model) => model.raw);
  byId("raw").checked = !byId("raw-choice").hidden;
}

/** Ask all chosen models about the sentence. */
async function ask() {
  const names = chosen();
  const text = sentence();
  for (const name of [...views.keys()].filter((one) => !names.includes(one))) views.delete(name);
  for (const name of names) if (!views.has(name)) views.set(name, new AnswerView(name));
  asked = question();
  if (text === null) {
    byId("answers").replaceChildren();
    tell("Type a sentence in the source language.");
    return;
  }
  tell("Translating …");
  const begin = performance.now();
  const raw = isRaw();
  byId("answers").replaceChildren(...names.map((name) => views.get(name).root));
  const answers = names.map(async (name) => views.get(name).show(await explain(name, text, raw), text, raw));
  try {
    await Promise.all(answers);
    tell(names.length ? `${Math.round(performance.now() - begin)} ms` : "Choose a model.");
  } catch (error) {
    if (!isReplaced(error)) tell(error.message, true);
  }
}

function listen() {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  byId("source").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    ask();
  });
  byId("add-term").addEventListener("click", () => addTerm());
  byId("raw").addEventListener("change", ask);
  byId("access").addEventListener("submit", (event) => {
    event.preventDefault();
    useToken(byId("token").value);
    start();
  });
  startWriting({ sentence, isRaw, model: () => chosen()[0], compare, tell });
}

/** Compare what was written with what each chosen model found. */
async function compare(written) {
  if (sentence() === null) return;
  if (asked !== question()) await ask();
  await Promise.all([...views.values()].map((view) => view.compareWith(written)));
  byId("answers").scrollIntoView({ block: "nearest" });
}

/** Show the models, or ask for the token that they need. */
async function start() {
  try {
    await showModels();
    byId("access").hidden = true;
    tell("Type a sentence in the source language.");
  } catch (error) {
    byId("access").hidden = !wantsToken(error);
    tell(error.message, true);
  }
}

listen();
start();
