// The page: two tabs, one to translate documents, one to see why a sentence is translated as it is.

import { useToken, wantsToken } from "./api.js";
import { readAddress, writeAddress } from "./address.js";
import { onChoice, showChoices } from "./choices.js";
import { byId } from "./dom.js";
import { Explorer } from "./explorer.js";
import { Work } from "./work.js";

const VIEWS = ["work", "explore"];
const explorer = new Explorer();
const work = new Work({ explain: (text) => look(text) });
let isListening = false;

function show(view) {
  for (const one of VIEWS) {
    byId(one).hidden = one !== view;
    byId(`tab-${one}`).setAttribute("aria-selected", one === view);
    byId(`tab-${one}`).tabIndex = one === view ? 0 : -1;
  }
  writeAddress({ view });
  if (view === "work") work.shown();
}

/** See in the explorer why a text is translated as it is. */
function look(text) {
  show("explore");
  explorer.askAbout(text);
}

function current() {
  return byId("work").hidden ? explorer : work;
}

function listen() {
  isListening = true;
  for (const view of VIEWS) byId(`tab-${view}`).addEventListener("click", () => show(view));
  byId("views").addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = byId("work").hidden ? "work" : "explore";
    show(other);
    byId(`tab-${other}`).focus();
  });
  onChoice(() => current().choicesChanged());
  addEventListener("hashchange", () => start());
}

/** Show what the address says, or ask for the token that the server wants. */
async function start() {
  const address = readAddress();
  try {
    const isKept = await showChoices(address);
    byId("access").hidden = true;
    if (!isListening) listen();
    explorer.restore(address);
    work.restore(address);
    show(VIEWS.includes(address.view) ? address.view : isKept ? "work" : "explore");
  } catch (error) {
    byId("access").hidden = !wantsToken(error);
    explorer.tell(error.message, true);
  }
}

byId("access").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(byId("token").value);
  start();
});
start();
