// Rates, lag, latency, memory; and what stands behind the status.
import { colour, line, makeChart, Track } from "./charts.js";
import { bytes, byId, duration, el, facts, number, percent, say, short, whole } from "./format.js";
import { agreement, judge, learning, waitingText } from "./judgement.js";

const kHorizons = {
  HORIZON_WINDOW: "the last rows",
  HORIZON_FADING: "all rows, older ones fading",
  HORIZON_ALL: "all rows",
  HORIZON_ADAPTIVE: "as many of the last rows, by their age, as have predicted best",
  HORIZON_FORGETTING: "the last rows, older ones counting less",
};

export class StatusView {
  constructor() {
    this.waiting = el("p", { class: "advice", role: "status" });
    this.sign = el("span", { class: "sign", "aria-hidden": "true" });
    this.word = el("strong", {});
    this.says = el("span", {});
    this.why = el("p", {});
    this.what = el("span", {});
    this.more = el("a", {});
    this.facts = el("dl", { class: "facts" });
    this.badge = el("p", { class: "badge", role: "status" }, this.sign, this.word, this.says);
    byId("status-body").replaceChildren(this.waiting, this.badge, this.why, el("p", { class: "advice" }, this.what, " ", this.more), this.facts);
  }

  update(status) {
    const p = status.provenance;
    const { state, why, what, page, topic } = judge(p);
    const waits = waitingText(status.durable);
    say(this.waiting, waits);
    this.waiting.hidden = waits === "";
    if (this.badge.dataset.tone !== state.tone) this.badge.dataset.tone = state.tone;
    say(this.sign, state.sign);
    say(this.word, state.word);
    say(this.says, state.says);
    say(this.why, why);
    say(this.what, what === "" ? "" : `What to do: ${what}`);
    say(this.more, `More on ${topic} in the manual`);
    if (this.more.getAttribute("href") !== page) this.more.setAttribute("href", page);
    facts(this.facts, [
      ["rows behind it", whole(number(p.n_eff)), kHorizons[p.horizon] ?? ""],
      ["effective draws", whole(number(p.ess_bulk)), `${whole(number(p.ess_tail))} in the tails; ${whole(p.draws)} kept`],
      ["R", short(number(p.draws_per_observation), 3), "draws a new row and chain; below 1 is too few"],
      ["R-hat", short(number(p.r_hat) || NaN, 4), agreement(number(p.r_hat), number(p.r_hat_chance))],
      ["answer as of", duration(number(p.age_ns)), `row ${whole(number(p.sequence))}`],
    ]);
  }
}

const kRateSeconds = 5;  // frames of many rows come less often than the page looks

// How fast `value(status)` has grown from the first to the last of what is remembered.
function rate(seen, value) {
  const [first, last] = [seen[0], seen.at(-1)];
  const seconds = last.now - first.now;
  return seconds > 0 ? Math.max(0, value(last.status) - value(first.status)) / seconds : NaN;
}

// "p50 … p99", or that nobody has asked at that endpoint; this page asks over HTTP.
function latency(l) {
  if (!l || number(l.count) === 0) return ["–", "nobody has asked there yet"];
  return [`${duration(number(l.p50_ns))} … ${duration(number(l.p99_ns))}`, `half of ${whole(number(l.count))} … 99 of 100`];
}

const counted = (counters, label) => number((counters ?? []).find((c) => c.label === label)?.value ?? 0);

export class NumbersView {
  constructor() {
    this.track = new Track(1);
    this.seen = [];
    this.chart = makeChart(byId("rate-chart"), {
      time: true,
      series: [line("rows a second", "--line-1", { fill: () => colour("--band-faint") })],
      scales: { y: { range: (_, __, most) => [0, (most || 1) * 1.1] } },
    });
  }

  // `now` in seconds; `asked` ns that the question took.
  update(now, status, asked) {
    this.seen = this.seen.filter((s) => now - s.now <= kRateSeconds).concat({ now, status });
    const rows = rate(this.seen, (s) => number(s.head));
    const steps = rate(this.seen, (s) => number(s.provenance.steps));
    this.track.push(now, rows);
    const p = status.provenance;
    const lag = Math.max(0, number(status.head) - number(p.sequence));
    this.text = `${short(rows, 3)} rows a second arrive`;
    facts(byId("numbers"), [
      ["rows arriving", `${short(rows, 3)} /s`, `${whole(number(status.head))} so far`],
      ["rows not yet in the answer", whole(lag), lag === 0 ? "it is up to date" : ""],
      ["the learner", ...learning(this.seen)],
      ["sampler steps", `${short(steps, 3)} /s`, `${whole(number(p.steps))} so far`],
      ["answering, query endpoint", ...latency(status.query_latency)],
      ["answering, observe endpoint", ...latency(status.observe_latency)],
      ["this page's question", duration(asked), "there and back, with the network"],
      ["memory", bytes(number(status.resident_bytes)), `${bytes(number(status.footprint_bytes))} of it planned before the start`],
      ["connections", `${status.observe_sessions} + ${status.query_sessions}`, "sending + asking"],
      ["running for", duration(number(status.uptime_ns)), ""],
      ...this.#disk(status.durable),
      ...this.#trouble(status),
    ]);
  }

  #disk(durable) {
    if (!durable?.keeps_folder) return [["on disk", "nothing", "a restart starts cold; see data.folder"]];
    const entries = [["checkpoint", whole(number(durable.checkpoint_head)), number(durable.checkpoint_age_ns) < 0 ? "rows in it" : `rows in it, ${duration(number(durable.checkpoint_age_ns))} old`]];
    const room = number(durable.log_capacity_bytes);
    if (room > 0) {
      const full = number(durable.log_used_bytes) / room;
      entries.unshift(["on disk up to row", whole(number(durable.durable_through)), `log ${percent(full, 0)} full${durable.log_status === "REASON_OK" ? "" : `, waiting: ${durable.log_status}`}`]);
    }
    return entries;
  }

  // Counters of what goes wrong, where they are not 0.
  #trouble(status) {
    const refused = counted(status.io_counters, "rows_refused");
    const lost = number(status.provenance.divergences);
    return [...(refused > 0 ? [["rows refused", whole(refused), "for what was wrong with them"]] : []), ...(lost > 0 ? [["chains restarted", whole(lost), ""]] : [])];
  }

  gap(now) {
    this.track.gap(now);
    this.seen = [];
  }

  draw() {
    this.chart.set(this.track.data, `Chart of rows a second over time. ${this.text ?? ""}`);
  }

  destroy() {
    this.chart.destroy();
  }
}
