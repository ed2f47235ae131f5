// What has changed since the page was opened.
import { byId, clock, el } from "./format.js";
import { judge } from "./judgement.js";

const kMost = 100;

export function tell(model, text) {
  const list = byId("events");
  const now = Date.now();
  list.prepend(el("li", {}, el("time", { datetime: new Date(now).toISOString() }, clock(now)), model === "" ? "" : el("strong", {}, model), text));
  while (list.children.length > kMost) list.lastElementChild.remove();
}

// What one model was when it was last looked at; tells of what is different.
class Watched {
  look(name, provenance) {
    const { state, reason } = judge(provenance);
    const text = state.word + (reason && reason !== "none" ? ` (${reason.replaceAll("_", " ")})` : "");
    if (this.text !== undefined && this.text !== text) tell(name, `${this.text} → ${text}`);
    if (this.text === undefined) tell(name, `is ${text}`);
    this.text = text;
  }
  lookAtState(name, state) {
    const { answered_by: by, paused } = state;
    if (this.by !== undefined && this.by !== by) tell(name, `is now answered by ${by}`);
    if (this.paused !== undefined && this.paused !== paused) tell(name, paused ? "was paused" : "goes on learning");
    this.by = by;
    this.paused = paused;
  }
}

const watched = new Map();
function of(name) {
  if (!watched.has(name)) watched.set(name, new Watched());
  return watched.get(name);
}

export const lookAt = (name, provenance) => of(name).look(name, provenance);

export function lookAtAll(states) {
  for (const state of states) {
    of(state.name).look(state.name, state.provenance);
    of(state.name).lookAtState(state.name, state);
  }
}
