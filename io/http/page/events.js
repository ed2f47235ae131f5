// What has happened: to the model, as the server lists it, and to this page since it was opened.
import { ask } from "./api.js";
import { byId, clock, el, number, short, whole } from "./format.js";
import { stateOf } from "./judgement.js";

const kMostNotes = 100;

const notes = [];   // the page's own, newest first
let listed = [];    // the server's, newest first, of the model that is shown
let noted = 0;

const ms = (ns) => number(ns) / 1e6;
const word = (name, prefix) => String(name ?? "").replace(prefix, "").toLowerCase().replaceAll("_", " ");

// The time, with the day where that is not today.
function when(time) {
  const day = new Date(time);
  if (day.toDateString() === new Date().toDateString()) return clock(time);
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")} ${clock(time)}`;
}

function state(e) {
  const reason = word(e.reason, "POSTERIOR_REASON_");
  let text = stateOf(e.state).word;
  if (reason !== "" && reason !== "none") {
    text += Number.isFinite(number(e.number)) ? ` (${reason}, ${short(number(e.number), 3)})` : ` (${reason})`;
  }
  if (number(e.drift_onset) > 0) text += `, since about row ${whole(number(e.drift_onset))}`;
  if (number(e.drift_onset_time_ns) > 0) text += `, ${when(ms(e.drift_onset_time_ns))}`;
  return text;
}

const kTexts = {
  STARTED: () => "the server began to serve it",
  STATUS: (e) => `${stateOf(e.from).word} → ${state(e)}${number(e.times) > 1 ? `; ${whole(number(e.times))} times since ${when(ms(e.first_time_ns))}` : ""}`,
  DRIFT: (e) => `another change while ${state(e)}`,
  COLD_START_OVER: () => "cold start over",
  STARTED_OVER: () => "the learner started over with the rows that it has",
  RESIZED: (e) => `as many as ${whole(number(e.number))} rows, before ${whole(number(e.before))}`,
  LIMIT_ASIDE: () => "so many rows are surprising that none is limited any more",
  LIMIT_BACK: () => "surprising rows are limited again",
  RECOVERED: () => "the rows of before the restart are all in the answer",
  PAUSED: () => "was paused",
  WENT_ON: () => "goes on learning",
};

export function textOf(event) {
  const kind = String(event.kind).replace("EVENT_KIND_", "");
  return kTexts[kind]?.(event) ?? word(kind, "");
}

// Adds what is new and takes away what is gone; what stays is not read out again.
function show() {
  const list = byId("events");
  const there = new Map([...list.children].map((item) => [item.dataset.key, item]));
  let at = list.firstElementChild;
  for (const e of [...listed, ...notes].sort((a, b) => b.time - a.time || b.order - a.order)) {
    const item = there.get(e.key) ?? el("li", { "data-key": e.key },
      el("time", { datetime: new Date(e.time).toISOString() }, when(e.time)),
      e.model === "" ? "" : el("strong", {}, e.model), e.text,
      e.row === undefined ? "" : el("span", { class: "fine" }, `row ${whole(e.row)}`));
    there.delete(e.key);
    if (item === at) at = at.nextElementSibling;
    else list.insertBefore(item, at);
  }
  there.forEach((item) => item.remove());
}

// Notes an event of this page.
export function tell(model, text) {
  noted += 1;
  notes.unshift({ key: `page ${noted}`, order: noted, time: Date.now(), model, text });
  notes.length = Math.min(notes.length, kMostNotes);
  show();
}

// Shows the events that the server keeps, which it knows from before the page was opened.
export async function showEvents(model) {
  const { events } = await ask("/v1/events", { model });
  listed = events.map((e) => ({
    key: `${model} ${e.id}`, order: number(e.id), time: ms(e.time_ns), model, text: textOf(e), row: number(e.row),
  }));
  show();
}

// What one model was when it was last looked at; tells what is different. The server tells more of
// the model that is shown.
class Watched {
  look(name, { provenance, answered_by: by, paused }, shown) {
    const text = stateOf(provenance.state).word;
    if (!shown && this.text !== undefined && this.text !== text) tell(name, `${this.text} → ${text}`);
    if (!shown && this.paused !== undefined && this.paused !== paused) tell(name, paused ? kTexts.PAUSED() : kTexts.WENT_ON());
    if (this.by !== undefined && this.by !== by) tell(name, `is now answered by ${by}`);
    Object.assign(this, { text, by, paused });
  }
}

const watched = new Map();

export function lookAtAll(states, shown) {
  for (const state of states) {
    if (!watched.has(state.name)) watched.set(state.name, new Watched());
    watched.get(state.name).look(state.name, state, state.name === shown);
  }
}
