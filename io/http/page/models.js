// All models of the server: which one is shown, and how each stands.
import { byId, el, number, percent, say, short, table, whole } from "./format.js";
import { stateOf } from "./judgement.js";

const kKinds = {
  MODEL_KIND_LINEAR: "linear", MODEL_KIND_LOGISTIC: "logistic", MODEL_KIND_POISSON: "counts",
  MODEL_KIND_NEGATIVE_BINOMIAL: "counts that scatter", MODEL_KIND_ZERO_INFLATED_POISSON: "counts with many zeros",
  MODEL_KIND_BINOMIAL: "counts of trials", MODEL_KIND_HETEROSCEDASTIC: "heteroscedastic",
  MODEL_KIND_LOG_NORMAL: "positive numbers", MODEL_KIND_STUDENT_T: "student-t", MODEL_KIND_SOFTMAX: "classes", MODEL_KIND_OTHER: "the host's own",
};

export class ModelsView {
  // choose(name) when the user wants to see another one.
  constructor(choose) {
    this.choose = choose;
    byId("model").addEventListener("change", () => choose(byId("model").value));
  }

  update({ states, count }, chosen) {
    const select = byId("model");
    const names = states.map((s) => s.name);
    if (chosen !== "" && !names.includes(chosen)) names.push(chosen);  // beyond those that are listed
    if (JSON.stringify(names) !== this.names) {
      this.names = JSON.stringify(names);
      select.replaceChildren(...names.map((name) => el("option", { value: name }, name)));
    }
    if (select.value !== chosen) select.value = chosen;
    byId("models").hidden = count < 2;
    if (count < 2) return;
    this.#table(states, chosen);
    say(byId("models-more"), count > states.length ? `The first ${states.length} of ${whole(count)}; another is shown at /?model=NAME.` : "");
  }

  #table(states, chosen) {
    const gain = (score) => (number(score?.rows) >= 1 ? number(score.log_score) - number(score.reference_log_score) : NaN);
    const rows = states.map((s) => [
      el("button", { type: "button", class: "link", "aria-current": s.name === chosen ? "true" : null, onclick: () => this.choose(s.name) }, s.name),
      kKinds[s.model] ?? s.model,
      state(s),
      whole(number(s.head)),
      short(gain(s.score), 3),
      percent(number(s.score?.coverage_90)),
      role(s),
    ]);
    const told = JSON.stringify([chosen, states.map((s) => [s.name, s.provenance.state, s.paused, isHeldUp(s), role(s)]), rows.map((r) => r.slice(3))]);
    if (told === this.told) return;  // keeps the focus where it is
    this.told = told;
    const focused = document.activeElement?.closest("#models-table") ? document.activeElement.textContent : null;
    table(byId("models-table"), ["model", "kind", "status", "rows", "gain, nats", "90 % held", ""], rows);
    if (focused !== null) [...byId("models-table").querySelectorAll("button")].find((b) => b.textContent === focused)?.focus();
  }
}

const isHeldUp = (s) => (s.log_status ?? "REASON_OK") !== "REASON_OK";

function state(s) {
  const { word, sign, tone } = stateOf(s.provenance.state);
  return el("span", { class: "state", "data-tone": tone }, el("span", { class: "sign", "aria-hidden": "true" }, sign), [word, s.paused ? "paused" : "", isHeldUp(s) ? "senders wait" : ""].filter((part) => part !== "").join(", "));
}

function role(s) {
  const parts = [];
  if (s.follows) parts.push(`challenges ${s.follows}`);
  if (s.answered_by && s.answered_by !== s.name) parts.push(`answered by ${s.answered_by}`);
  return parts.join("; ");
}
