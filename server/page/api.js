// What the page asks the server. A new question of the same kind ends the one before.

const TOKEN = "phrasebeam token"; // its key in the storage that ends with the tab of the browser
const TRANSLATE = "/v1/translate";
const asked = new Map(); // AbortControllers, by kind of question

/** The models that are served. */
export async function models() {
  return (await answer("models", "/v1/models")).models;
}

/** The projects of a model, and whether the server keeps any. */
export function projects(model) {
  return answer("projects", `/v1/projects?${new URLSearchParams({ model })}`);
}

/** All about the translation of a sentence by a model, but the search. `question`: sentence, raw, project. */
export function explain(model, question) {
  return answer(`explain ${model}`, "/v1/explain", { model, ...question, nbest: 20, stacks: 0 });
}

/** The same with the stacks of the search, which take most of the time and of the answer. */
export function explainSearch(model, question) {
  return answer(`search ${model}`, "/v1/explain", { model, ...question, nbest: 1, stacks: 15 });
}

/** Why a model says, or does not say, a translation. */
export function compare(model, question, translation) {
  return answer(`force ${model}`, "/v1/force", { model, ...question, translation });
}

/** What may follow what was typed. */
export function complete(model, question, prefix) {
  return answer("complete", "/v1/complete", { model, ...question, prefix, k: 5 });
}

/** The translation of a whole text, whose lines stay; of raw text lines may have several sentences. */
export async function translateText(model, project, text, raw) {
  const question = { model, ...named(project), raw };
  if (raw) {
    const { translations } = await answer("whole", TRANSLATE, { ...question, paragraphs: true, text });
    return translations[0].text;
  }
  const lines = text.split("\n").map((line) => line.trim());
  const { translations } = await answer("whole", TRANSLATE, { ...question, text: lines.filter(Boolean) });
  return lines.map((line) => line && translations.shift().text).join("\n");
}

/** The segments of a document; `content` is in base64. */
export function openDocument(model, name, content) {
  return answer("document", "/v1/documents", { model, name, content });
}

/** The document with translations by the numbers of segments, as a Blob. */
export async function filledDocument(model, name, content, translations) {
  return (await reply("filled", "/v1/documents/filled", { model, name, content, translations })).blob();
}

/** How a segment of a document may be translated. */
export function suggest(model, project, segment) {
  return answer("suggestion", "/v1/suggestions", { model, ...named(project), ...segment });
}

/** Learn a confirmed translation. */
export function confirmSegment(body) {
  return answer(null, "/v1/segments", body);
}

/** The latest segments of a project, and how many there are. */
export async function latestSegments(model, project, most) {
  const one = new URLSearchParams({ model, project });
  const { total } = await answer("total", `/v1/segments?${one}&limit=0`);
  return answer("learned", `/v1/segments?${one}&first=${Math.max(0, total - most)}`);
}

/** Forget a segment. */
export function undoSegment(model, project, number) {
  return answer(null, `/v1/segments/${number}?${new URLSearchParams({ model, project })}`, null, "DELETE");
}

/** A project as questions have it. */
export function named(project) {
  return project ? { project } : {};
}

/** Send that token from now on. */
export function useToken(text) {
  sessionStorage.setItem(TOKEN, text.trim());
}

async function answer(kind, path, body = null, method = null) {
  return (await reply(kind, path, body, method)).json();
}

/** The response to a request; `kind`: of question, null where each is to be answered. */
async function reply(kind, path, body = null, method = null) {
  const controller = new AbortController();
  if (kind !== null) {
    asked.get(kind)?.abort();
    asked.set(kind, controller);
  }
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  const sent = body === null ? {} : { body: JSON.stringify(body) };
  const request = { method: method ?? (body === null ? "GET" : "POST"), headers, signal: controller.signal, ...sent };
  const response = await fetch(path, request).catch((error) => {
    throw isReplaced(error) ? error : new Error("The server does not answer. Is it still running?");
  });
  if (!response.ok) throw new RefusedError(response.status, messageOf(await response.json().catch(() => null)));
  return response;
}

/** The line that an error answer has. */
function messageOf(found) {
  const detail = found?.error ?? found?.detail;
  return typeof detail === "string" ? detail : detail ? JSON.stringify(detail) : null;
}

/** An answer that is an error. */
class RefusedError extends Error {
  constructor(status, message) {
    super(status === 401 ? "This server needs a token: type it above." : (message ?? `the server answers ${status}`));
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
