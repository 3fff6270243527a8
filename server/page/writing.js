// A translation that a person writes: completed by the model with each key, and compared with what it found.

import { complete, isReplaced } from "./api.js";
import { byId, element } from "./dom.js";

const PAUSE = 120; // milliseconds after a key before the model is asked

/** Listen; `page` tells of the sentence, whether it is raw, and the model; and compares what was written. */
export function startWriting(page) {
  const field = byId("translation");
  let rest = ""; // what the model suggests behind what was typed
  let timer = 0;

  function suggest(typed, completions) {
    rest = completions.length ? completions[0].rest : "";
    const [, word, others] = /^(\s*\S*)([^]*)$/.exec(rest);
    byId("suggestion").replaceChildren(
      ...(rest ? [element("span", { class: "typed" }, typed), element("mark", {}, word), others] : []),
    );
    for (const id of ["accept-word", "accept-all"]) byId(id).disabled = !rest;
    byId("completions").replaceChildren(...completions.slice(1).map((one) => completionItem(one.text, () => put(typed + one.rest))));
  }

  function completionItem(text, choose) {
    return element("li", {}, element("button", { type: "button", class: "link", dir: "auto", onclick: choose }, text));
  }

  function put(text) {
    field.value = text;
    field.focus();
    field.setSelectionRange(text.length, text.length);
    ask();
  }

  const acceptWord = () => put(field.value + /^\s*\S*/.exec(rest)[0]);
  const acceptAll = () => put(field.value + rest);

  async function ask() {
    const sentence = page.sentence();
    const typed = field.value;
    if (sentence === null || page.model() === undefined) return suggest(typed, []);
    try {
      const answer = await complete(page.model(), sentence, page.isRaw(), typed);
      if (field.value === typed) suggest(typed, answer.completions);
    } catch (error) {
      if (isReplaced(error)) return undefined;
      suggest(typed, []);
      page.tell(error.message, true);
    }
    return undefined;
  }

  function later() {
    suggest("", []); // what was suggested no longer fits
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  }

  field.addEventListener("input", later);
  field.addEventListener("focus", ask);
  field.addEventListener("keydown", (event) => {
    const isAtEnd = field.selectionStart === field.value.length;
    if (event.key === "Tab" && !event.shiftKey && rest && isAtEnd) acceptWord();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && rest) acceptAll();
    // Afterwards the tab key leaves the field.
    else if (event.key === "Escape" && rest) suggest(field.value, []);
    else return;
    event.preventDefault();
  });
  byId("accept-word").addEventListener("click", acceptWord);
  byId("accept-all").addEventListener("click", acceptAll);
  byId("writing").addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) page.compare(field.value.trim());
  });
}
