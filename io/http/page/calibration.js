// Whether intervals hold as many outcomes as they promise, and what predictions are worth beside
// who knows nothing, and beside the challengers.
import { colour, key, line, makeChart } from "./charts.js";
import { isBinary } from "./prediction.js";
import { noneScored } from "./judgement.js";
import { judgePit, pitBins } from "./pit.js";
import { byId, number, percent, say, short, table, whole } from "./format.js";

const kPromised = [50, 80, 90, 95];
const kManyNats = 7;  // a thousand times
const kYoung = 10;    // memories, until the first predictions are forgotten
const kColours = ["--line-1", "--line-2", "--line-3"];
const kShapes = ["circle", "square", "triangle"];

const memoryText = (score) => (number(score.memory) === 0 ? "all since the start" : `last ${whole(number(score.memory))}`);
const held = (score) => kPromised.map((p) => number(score[`coverage_${p}`]));
// Two standard deviations of a share, were the rows independent.
const chance = (share, rows) => 2 * Math.sqrt((share * (1 - share)) / rows);

// Leaves out scores that repeat another: while few rows have come all memories hold the same.
function distinct(scores) {
  const kept = [];
  for (const score of scores) {
    const rows = number(score.rows);
    if (rows >= 1 && rows !== kept.at(-1)?.count) kept.push({ ...score, count: rows });
  }
  return kept;
}

function verdict(score) {
  const share = number(score.coverage_90);
  const off = share - 0.9;
  const within = `Of the outcomes of ${score.count < number(score.memory) || number(score.memory) === 0 ? whole(score.count) : `the last ${whole(score.count)}`} rows, ${percent(share)} lay within their 90 % intervals`;
  if (Math.abs(off) <= chance(0.9, score.count)) return `${within}: as promised.`;
  if (off > 0) return `${within}: more than promised, so the intervals are wider than they need be.`;
  return `${within}: fewer than promised, so the intervals are too narrow.`;
}

// Intervals that were learned from what happened, and so hold what they promise.
function learned(score) {
  const share = number(score.conformal_coverage_90);
  return Number.isFinite(share) && score.conformal_size !== undefined ? ` Conformal intervals, which learn from that, held ${percent(share)}.` : "";
}

function sets(scores) {
  if (scores[0].conformal_size === undefined) return "";
  return ` Conformal sets of 90 % held ${percent(number(scores[0].conformal_coverage_90))} of the outcomes, with ${short(number(scores[0].conformal_size), 3)} classes each.`;
}

// Points of a shape of its own for each line, for who cannot tell colours apart.
function points(name, shape) {
  const build = (chart, seriesIndex, index0, index1) => {
    const [path, size] = [new Path2D(), 4.5 * devicePixelRatio];
    for (let i = index0; i <= index1; ++i) {
      const value = chart.data[seriesIndex][i];
      if (value === null || value === undefined) continue;
      const [x, y] = [chart.valToPos(chart.data[0][i], "x", true), chart.valToPos(value, "y", true)];
      if (shape === "circle") {
        path.moveTo(x + size, y);
        path.arc(x, y, size, 0, 2 * Math.PI);
      } else if (shape === "square") {
        path.rect(x - size, y - size, 2 * size, 2 * size);
      } else {
        path.moveTo(x, y - 1.2 * size);
        path.lineTo(x + 1.2 * size, y + size);
        path.lineTo(x - 1.2 * size, y + size);
        path.closePath();
      }
    }
    return { fill: path, stroke: null };
  };
  return { show: true, fill: () => colour(name), paths: build, width: 0 };
}

export class CalibrationView {
  constructor(columns) {
    this.columns = columns;
    const axis = { values: (_, at) => at.map((v) => `${v}\u00a0%`) };
    this.chart = makeChart(byId("calibration-chart"), {
      series: [
        line("promised", "--ink-soft", { width: 1, dash: [4, 4] }),
        ...kColours.map((name, i) => line(`memory ${i}`, name, { points: points(name, kShapes[i]) })),
      ],
      scales: { x: { time: false, range: [45, 100] }, y: { range: (_, least) => [Math.min(45, Math.floor((least ?? 45) / 5) * 5), 101] } },
      x: { splits: () => kPromised },
      y: axis,
    });
    this.pit = makeChart(byId("pit-chart"), {
      series: [
        line("outcomes", "--line-1", { width: 1, fill: () => colour("--band"), paths: uPlot.paths.bars({ size: [1, Infinity], gap: 2 }) }),
        line("flat", "--ink-soft", { width: 1, dash: [4, 4] }),
      ],
      scales: { x: { time: false, range: [0, 1] }, y: { range: (_, __, most) => [0, Math.max(1.5, most || 0) * 1.05] } },
      x: { splits: () => [0, 0.25, 0.5, 0.75, 1] },
    });
    for (const id of ["calibration-table", "score-table", "calibration-key", "pit-key"]) byId(id).replaceChildren();
    this.told = "";
  }

  update(status) {
    const scores = distinct(status.scores ?? []);
    const offered = number(status.scores_offered);
    const told = JSON.stringify([scores, scores.length === 0 && offered]);
    if (told === this.told) return;
    this.told = told;
    this.none = noneScored(offered);
    this.#intervals(scores);
    this.#histogram(scores[0]);
    this.#worth(scores, offered);
  }

  #intervals(scores) {
    const held90 = scores.filter((s) => Number.isFinite(number(s.coverage_90)));
    if (held90.length === 0) {
      say(byId("calibration-now"), this.none);
      this.chart.set([kPromised, kPromised, [], [], []], this.none);
      return;
    }
    say(byId("calibration-now"), `${verdict(held90[0])}${this.columns.classes > 0 || isBinary(this.columns) ? sets(held90) : learned(held90[0])}`);
    const lines = kColours.map((_, i) => (held90[i] ? held(held90[i]).map((v) => 100 * v) : kPromised.map(() => null)));
    this.chart.set([kPromised, kPromised, ...lines], `Reliability curve. ${verdict(held90[0])}`);
    const entries = held90.slice(0, 3).map((s, i) => [kColours[i], memoryText(s), kShapes[i]]);
    key(byId("calibration-key"), [["--ink-soft", "across: promised, up: held", "dashed"], ...entries]);
    table(byId("calibration-table"), ["rows", ...kPromised.map((p) => `${p} %`), "chance at 90 %"],
      held90.map((s) => [memoryText(s), ...held(s).map((v) => percent(v)), `± ${percent(chance(0.9, s.count))}`]));
  }

  #histogram(score) {
    const bins = pitBins((score?.pit ?? []).map(number), this.columns.classes > 0);
    if (bins === null) {
      say(byId("pit-now"), "");
      return this.pit.set([[], [], []], this.none);
    }
    const said = judgePit(bins, score.count);
    say(byId("pit-now"), said);
    this.pit.set([bins.centres, bins.times, bins.times.map(() => 1)], `PIT histogram. ${said}`);
    key(byId("pit-key"), [["--line-1", `${memoryText(score)}: how many times as many as of honest predictions`], ["--ink-soft", "honest", "dashed"]]);
  }

  #worth(scores, offered) {
    if (scores.length === 0) {
      say(byId("score-now"), this.none);
      return;
    }
    const gain = number(scores[0].log_score) - number(scores[0].reference_log_score);
    // Older rows count less and less, and the first ones, far off, for long.
    const young = gain < 0 && offered < kYoung * number(scores[0].memory);
    const early = young ? " The first predictions, made when it knew nothing yet, still weigh in that." : "";
    const times = Math.abs(gain) < kManyNats ? `${short(Math.exp(Math.abs(gain)), 3)} times` : "very many times";
    const likely = gain > 0 ? `Yes: a row's outcome was ${times} as likely` : `Not lately: a row's outcome was ${times} less likely`;
    say(byId("score-now"), `${likely} under its prediction ${gain > 0 ? "as" : "than"} for who knows no x (${short(gain, 3)} nats).${early}`);
    this.scores = scores;
    this.#table();
  }

  // Compares the models that learn from the same rows; `states` holds all models.
  compare(states, name) {
    const own = states.find((s) => s.name === name);
    const leader = own?.follows || name;
    this.rivals = states.filter((s) => s.name !== name && s.score && (s.name === leader || s.follows === leader));
    if (this.scores) this.#table();
  }

  #table() {
    const entry = (name, s) => {
      const [score, reference] = [number(s.log_score), number(s.reference_log_score)];
      return [name, whole(number(s.rows)), short(score), short(reference), short(score - reference, 3)];
    };
    const rivals = (this.rivals ?? []).filter((s) => number(s.score.rows) >= 1);
    const rows = [
      ...this.scores.map((s) => entry(memoryText(s), s)),
      ...rivals.map((s) => entry(`${s.name} (${s.follows ? "challenger" : "champion"}), last 10,000`, s.score)),
    ];
    table(byId("score-table"), ["rows", "worth", "log score", "reference", "gain"], rows);
  }

  destroy() {
    this.chart.destroy();
    this.pit.destroy();
  }
}
