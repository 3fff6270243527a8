// The document that is worked on, kept by the browser, so that a reload loses nothing that was confirmed.

const KEY = "phrasebeam document"; // begins the key in the browser's storage, before the names of model and project

/** A document: name, content (base64), the model that divided it, format, segments, and what was confirmed. */
export class StoredDocument {
  constructor({ name, content, model, format, segments, done = {} }) {
    Object.assign(this, { name, content, model, format, segments, done });
  }

  /** The document of a place, which names model and project; null where there is none. */
  static of(place) {
    try {
      const found = localStorage.getItem(`${KEY} ${place}`);
      return found && new StoredDocument(JSON.parse(found));
    } catch {
      return null; // storage is forbidden, or has something else
    }
  }

  /** Keep it; false where the browser has no room for it. */
  keep(place) {
    try {
      localStorage.setItem(`${KEY} ${place}`, JSON.stringify(this));
      return true;
    } catch {
      return false;
    }
  }

  static forget(place) {
    localStorage.removeItem(`${KEY} ${place}`);
  }

  /** The same for another model or project, which has learned none of it. */
  elsewhere() {
    const done = Object.entries(this.done).map(([at, { text }]) => [at, { text, number: null }]);
    return new StoredDocument({ ...this, done: Object.fromEntries(done) });
  }

  /** Note a confirmed translation; `number`: of the learned segment, null where nothing is learned. */
  confirm(at, text, number) {
    this.done[at] = { text, number };
  }

  /** What was learned as that number is confirmed no longer. */
  undo(number) {
    for (const [at, one] of Object.entries(this.done)) if (one.number === number) delete this.done[at];
  }

  /** The next segment that is not confirmed, behind `at` or from the beginning; null where all are. */
  nextAfter(at) {
    const order = [...this.segments.keys()];
    const open = (number) => !(number in this.done);
    return order.slice(at + 1).find(open) ?? order.slice(0, at + 1).find(open) ?? null;
  }

  /** Confirmed translations by the numbers of their segments. */
  translations() {
    return Object.fromEntries(Object.entries(this.done).map(([at, one]) => [at, one.text]));
  }

  /** All of it as text, a line a segment; what is not confirmed is in the source language. */
  text() {
    return this.segments.map((one, at) => this.done[at]?.text ?? one.text).join("\n");
  }
}

/** The bytes of a file, or of a text, in base64. */
export async function base64(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}
