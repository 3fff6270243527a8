// What the page asks the server. A new question of the same kind ends the one before.

const asked = new Map(); // AbortControllers, by kind of question

/** The models that are served. */
export async function models() {
  return (await answer("models", "/v1/models")).models;
}

/** All about the translation of a sentence by a model. */
export function explain(model, sentence, raw) {
  return answer(`explain ${model}`, "/v1/explain", { model, text: sentence, raw, nbest: 20, stacks: 25 });
}

/** Why a model says, or does not say, a translation. */
export function compare(model, sentence, raw, translation) {
  return answer(`force ${model}`, "/v1/force", { model, text: sentence, raw, translation });
}

/** What may follow what was typed. */
export function complete(model, sentence, raw, prefix) {
  const text = { ...sentence, prefix, partial_word: true };
  return answer("complete", "/v1/complete", { model, text, raw, n: 5 });
}

async function answer(kind, path, body = null) {
  asked.get(kind)?.abort();
  const controller = new AbortController();
  asked.set(kind, controller);
  const headers = { "Content-Type": "application/json" };
  const request = body === null ? {} : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(path, { ...request, signal: controller.signal });
  const found = await response.json().catch(() => null);
  if (!response.ok) throw new Error(messageOf(found) ?? `the server answers ${response.status}`);
  return found;
}

/** The line that an error answer has. */
function messageOf(found) {
  const detail = found?.error ?? found?.detail;
  return typeof detail === "string" ? detail : detail ? JSON.stringify(detail) : null;
}

/** Whether an error only says that a later question took the place of this one. */
export function isReplaced(error) {
  return error.name === "AbortError";
}
