// What the page asks the server. A new question of the same kind ends the one before.

let token = ""; // that the server wants, if it wants one
const asked = new Map(); // AbortControllers, by kind of question

/** The models that are served. */
export async function models() {
  return (await answer("models", "/v1/models")).models;
}

/** All about the translation of a sentence by a model. */
export function explain(model, sentence, raw) {
  return answer(`explain ${model}`, "/v1/explain", { model, ...sentence, raw, nbest: 20, stacks: 15 });
}

/** Why a model says, or does not say, a translation. */
export function compare(model, sentence, raw, translation) {
  return answer(`force ${model}`, "/v1/force", { model, ...sentence, raw, translation });
}

/** What may follow what was typed. */
export function complete(model, sentence, raw, prefix) {
  return answer("complete", "/v1/complete", { model, ...sentence, raw, prefix, k: 5 });
}

/** Send that token from now on. */
export function useToken(text) {
  token = text.trim();
}

async function answer(kind, path, body = null) {
  asked.get(kind)?.abort();
  const controller = new AbortController();
  asked.set(kind, controller);
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const request = body === null ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(path, { ...request, signal: controller.signal });
  const found = await response.json().catch(() => null);
  if (!response.ok) throw new RefusedError(response.status, messageOf(found));
  return found;
}

/** The line that an error answer has. */
function messageOf(found) {
  const detail = found?.error ?? found?.detail;
  return typeof detail === "string" ? detail : detail ? JSON.stringify(detail) : null;
}

/** An answer that is an error. */
class RefusedError extends Error {
  constructor(status, message) {
    super(message ?? `the server answers ${status}`);
    this.status = status;
  }
}

/** Whether the server wants a token, or another one. */
export function wantsToken(error) {
  return error.status === 401;
}

/** Whether an error only says that a later question took the place of this one. */
export function isReplaced(error) {
  return error.name === "AbortError";
}
