// The page to work in: a document segment by segment, each confirmed one taught to the project.

import { confirmSegment, filledDocument, isReplaced, openDocument, suggest, undoSegment } from "./api.js";
import { writeAddress } from "./address.js";
import { chosen, isRaw, project, showProjects } from "./choices.js";
import { byId, element } from "./dom.js";
import { copyText, oneLine } from "./editing.js";
import { showLearned } from "./learned.js";
import { SegmentEditor } from "./segment_editor.js";
import { StoredDocument, base64 } from "./stored_document.js";
import { WholeText } from "./whole_text.js";

export class Work {
  /** `page` has explain(text). */
  constructor(page) {
    this.page = page;
    this.document = null;
    this.at = 0; // the segment that is worked on
    // A translation that arrives late does not replace what is told of a document that was opened meanwhile
    this.whole = new WholeText((text, isError) => this.document || this.tell(text, isError));
    byId("open").addEventListener("submit", (event) => {
      event.preventDefault();
      this.open("text.txt", new Blob([byId("paste").value]));
    });
    byId("file").addEventListener("change", () => {
      const [file] = byId("file").files;
      if (file) this.open(file.name, file);
    });
    byId("copy-all").addEventListener("click", () => this.copy());
    byId("download").addEventListener("click", () => this.download());
    byId("close-document").addEventListener("click", () => this.close());
  }

  tell(text, isError = false) {
    byId("work-status").textContent = text;
    byId("work-status").classList.toggle("error", isError);
  }

  /** Show what the address says: the document of its project, at its segment. */
  restore(address) {
    this.place = place();
    this.document = StoredDocument.of(this.place);
    this.show(Math.max(0, address.segment - 1));
  }

  /** Another model or project has a document of its own, or takes over the one for which no project was named. */
  choicesChanged() {
    const [before, open, at] = [this.place, this.document, this.at];
    this.restore({ segment: 0 });
    const isSame = before === this.place || before.endsWith(" ") || before.split(" ")[1] === project();
    if (open && !this.document && isSame) {
      this.document = open.elsewhere();
      this.keep();
      this.show(at);
    }
    this.shown();
  }

  /** Called when the tab is looked at. */
  shown() {
    this.refreshLearned();
    if (this.document) this.activate(this.at);
    else this.whole.translate();
  }

  async open(name, blob) {
    try {
      const content = await base64(blob);
      const found = await openDocument(chosen()[0], name, content);
      if (found.format === "tmx") return await this.learnAll(found.pairs);
      if (!found.segments.length) return this.tell(`${name}: there is nothing left to translate.`, true);
      const { format, segments } = found;
      this.document = new StoredDocument({ name, content, model: chosen()[0], format, segments });
      this.keep();
      const there = found.translated ? `; ${found.translated} are already translated` : "";
      this.show(0);
      this.activate(0);
      return this.tell(`${found.segments.length} segments to translate${there}.`);
    } catch (error) {
      return this.fail(error);
    }
  }

  /** Learn the pairs of a translation memory. */
  async learnAll(pairs) {
    if (!project()) return this.tell("Type the name of a project above: it learns the segments of the memory.", true);
    for (const [number, pair] of pairs.entries()) {
      await this.learn(pair.source, pair.translation, false);
      this.tell(`Learned ${number + 1} of ${pairs.length} pairs.`);
    }
    return this.refreshLearned();
  }

  close() {
    StoredDocument.forget(this.place);
    this.document = null;
    this.show(0);
    this.tell("");
    byId("paste").focus();
  }

  keep() {
    const isKept = this.document.keep(this.place);
    if (!isKept) this.tell("The browser cannot store this document: download it before you leave.", true);
  }

  /** The list of segments, or the form that opens a document. */
  show(at) {
    const isOpen = this.document !== null;
    byId("open").hidden = isOpen;
    byId("document").hidden = !isOpen;
    this.at = isOpen ? Math.min(at, this.document.segments.length - 1) : 0;
    if (!isOpen) return;
    byId("document-name").textContent = this.document.name;
    byId("segments").replaceChildren(...this.document.segments.map((_, number) => this.row(number)));
    this.count();
  }

  count() {
    const { done, segments } = this.document;
    byId("progress").textContent = `${Object.keys(done).length} of ${segments.length} confirmed`;
  }

  row(number) {
    const { text } = this.document.segments[number];
    const done = this.document.done[number];
    const go = () => this.activate(number);
    return element(
      "li",
      { "data-segment": number, class: done ? "done" : null },
      element("button", { type: "button", class: "link segment", dir: "auto", onclick: go }, text),
      done && element("span", { class: "translation", dir: "auto" }, done.text),
    );
  }

  item(number) {
    return byId("segments").children[number];
  }

  /** Work on that segment: its translation, or a fresh suggestion. */
  async activate(number) {
    if (this.editor) this.item(this.at)?.replaceWith(this.row(this.at));
    this.at = number;
    writeAddress({ segment: number + 1 });
    const segment = this.document.segments[number];
    const editor = new SegmentEditor(segment, this.document.done[number]?.text ?? "", {
      confirm: (text) => this.confirm(text),
      move: (step) => this.item(number + step) && this.activate(number + step),
      explain: () => this.page.explain(segment.text),
    });
    this.editor = editor;
    this.item(number).replaceChildren(editor.root);
    this.item(number).classList.add("active");
    editor.field.focus({ preventScroll: true });
    editor.root.scrollIntoView({ block: "nearest" });
    try {
      editor.suggest(await suggest(chosen()[0], project(), segment));
    } catch (error) {
      if (!isReplaced(error)) editor.tell(error.message);
    }
  }

  /** Confirm the translation of the segment at hand, teach it to the project, and go on. */
  async confirm(text) {
    const at = this.at;
    const segment = this.document.segments[at];
    const before = this.document.done[at]?.number;
    try {
      let number = null;
      if (project()) {
        if (before) await undoSegment(chosen()[0], project(), before).catch(() => {}); // it was undone already
        number = await this.learn(segment.text, text, segment.is_xml);
      }
      this.document.confirm(at, text, number);
    } catch (error) {
      return this.fail(error);
    }
    this.keep();
    this.count();
    this.tell(project() ? "" : "Nothing is learned without a project: type a name above.");
    const next = this.document.nextAfter(at);
    if (next === null) this.tell("All segments are confirmed.");
    this.refreshLearned();
    return this.activate(next ?? at);
  }

  async learn(source, translation, isXml) {
    const sides = { source: oneLine(source), translation: oneLine(translation), is_xml: isXml };
    const model = chosen()[0];
    const { number } = await confirmSegment({ model, project: project(), raw: isRaw(model), ...sides });
    return number;
  }

  async refreshLearned() {
    try {
      await showLearned(chosen()[0], project(), (number) => this.undone(number));
      if (project()) await showProjects();
    } catch (error) {
      this.fail(error);
    }
  }

  /** A segment was taken back: it is to be confirmed again, and suggestions no longer know it. */
  undone(number) {
    if (this.document) {
      this.document.undo(number);
      this.keep();
      this.show(this.at);
      this.activate(this.at);
    }
    this.refreshLearned();
  }

  /** Copy all of it: a document of text as it is, of others a line for each segment. */
  async copy() {
    try {
      const isText = this.document.format === "text";
      await copyText(isText ? await (await this.filled()).text() : this.document.text());
      this.tell("Copied.");
    } catch (error) {
      this.fail(error);
    }
  }

  /** The document with its translations. */
  filled() {
    const { model, name, content } = this.document;
    return filledDocument(model, name, content, this.document.translations());
  }

  /** Save the document with its translations. */
  async download() {
    const { name } = this.document;
    try {
      const blob = await this.filled();
      const link = element("a", { href: URL.createObjectURL(blob), download: name });
      link.click();
      URL.revokeObjectURL(link.href);
      this.tell(`${name}: downloaded with ${Object.keys(this.document.done).length} translations.`);
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error) {
    if (!isReplaced(error)) this.tell(error.message, true);
  }
}

/** Where a document is kept: the model and the project that learn from it. */
function place() {
  return `${chosen()[0] ?? ""} ${project()}`;
}
