// Tabs, by the pattern of WAI-ARIA: one stop of the tab key, arrow keys from tab to tab.

import { element } from "./dom.js";

export class Tabs {
  /** `makers`: functions that make the panels, by title; each is called when its tab is first chosen. */
  constructor(owner, makers) {
    this.makers = makers;
    this.titles = Object.keys(makers);
    this.panel = element("div", { role: "tabpanel", id: `panel-${owner}`, class: "panel" });
    this.buttons = this.titles.map((title) =>
      element(
        "button",
        { type: "button", role: "tab", "aria-controls": this.panel.id, onclick: () => this.choose(title) },
        title,
      ),
    );
    const list = element("div", { role: "tablist", "aria-label": "About this translation" }, this.buttons);
    list.addEventListener("keydown", (event) => this.move(event));
    this.root = element("div", { class: "tabs" }, list, this.panel);
    this.shown = new Map(); // panels by title
    this.choose(this.titles[0]);
  }

  choose(title) {
    if (!this.shown.has(title)) this.shown.set(title, this.makers[title]());
    for (const [number, button] of this.buttons.entries()) {
      const isChosen = this.titles[number] === title;
      button.setAttribute("aria-selected", isChosen);
      button.tabIndex = isChosen ? 0 : -1;
    }
    this.panel.setAttribute("aria-label", title);
    this.panel.replaceChildren(this.shown.get(title));
  }

  /** Choose a tab with a panel of its own from now on. */
  show(title, panel) {
    this.shown.set(title, panel);
    this.choose(title);
  }

  move(event) {
    const at = this.buttons.indexOf(document.activeElement);
    const last = this.buttons.length - 1;
    const places = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last };
    if (at < 0 || !(event.key in places)) return;
    event.preventDefault();
    this.choose(this.titles[places[event.key]]);
    this.buttons[places[event.key]].focus();
  }
}
