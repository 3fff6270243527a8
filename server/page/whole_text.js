// A whole text, translated as it is typed or pasted; it may be taken apart into segments then.

import { isReplaced, translateText } from "./api.js";
import { chosen, chooseModel, isRaw, opposite, project } from "./choices.js";
import { byId } from "./dom.js";
import { copyText } from "./editing.js";

const PAUSE = 400; // milliseconds after a key until the text is translated

export class WholeText {
  /** `tell(text, isError)` shows a line. */
  constructor(tell) {
    this.tell = tell;
    this.timer = null;
    byId("paste").addEventListener("input", () => this.later());
    byId("copy-whole").addEventListener("click", () => this.copy());
    byId("swap").addEventListener("click", () => this.swap());
  }

  later() {
    clearTimeout(this.timer);
    byId("whole").classList.add("stale");
    this.timer = setTimeout(() => this.translate(), PAUSE);
  }

  /** Translate what is typed now; called, too, when another model or project is chosen. */
  async translate() {
    clearTimeout(this.timer);
    const [model] = chosen();
    byId("swap").hidden = !model || !opposite(model);
    const text = byId("paste").value;
    if (!text.trim() || !model) return this.show("");
    try {
      this.show(await translateText(model, project(), text, isRaw(model)));
      return this.tell("");
    } catch (error) {
      return isReplaced(error) ? undefined : this.tell(error.message, true);
    }
  }

  show(text) {
    byId("whole").value = text;
    byId("whole").classList.remove("stale");
    byId("copy-whole").disabled = !text;
  }

  async copy() {
    await copyText(byId("whole").value);
    this.tell("Copied.");
  }

  /** The translation as the text, for a model of the other direction. */
  swap() {
    byId("paste").value = byId("whole").value;
    chooseModel(opposite(chosen()[0]));
  }
}
