// What is looked at, in the address behind #: reload it or send it, and the same is there again.

/** What the address says: view, models, project, sentence, terms, whether text is raw, and the segment. */
export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  return {
    view: given.get("view"),
    models: given.getAll("m"),
    project: given.get("project") ?? "",
    sentence: given.get("s") ?? "",
    terms: given.getAll("t").map((one) => one.split("\t")).filter((one) => one.length === 2),
    raw: given.get("raw") !== "0",
    segment: Number(given.get("segment") ?? 0),
  };
}

/** Let the address say what is different; it is no step of the browser's history. */
export function writeAddress(changes) {
  const state = { ...readAddress(), ...changes };
  const told = new URLSearchParams();
  if (state.view) told.set("view", state.view);
  for (const name of state.models) told.append("m", name);
  if (state.project) told.set("project", state.project);
  if (state.sentence) told.set("s", state.sentence);
  for (const [source, target] of state.terms) told.append("t", `${source}\t${target}`);
  if (!state.raw) told.set("raw", "0");
  if (state.segment) told.set("segment", state.segment);
  history.replaceState(null, "", `#${told}`);
}
