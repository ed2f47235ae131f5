// What is predicted at one row, with its bands, while rows arrive.
import { band, edge, key, line, makeChart, Track } from "./charts.js";
import { byId, near, number, percent, say } from "./format.js";

const kMostClasses = 5;
const kLineColours = ["--line-1", "--line-2", "--line-3", "--line-4", "--line-5"];
const kTwoSided90 = 1.645;  // standard deviations of a normal

const kCounts = [
  "MODEL_KIND_POISSON", "MODEL_KIND_NEGATIVE_BINOMIAL", "MODEL_KIND_BINOMIAL", "MODEL_KIND_ZERO_INFLATED_POISSON",
];
export const isCount = (columns) => kCounts.includes(columns.welcome.model);
export const isPositive = (columns) => isCount(columns) || columns.welcome.model === "MODEL_KIND_LOG_NORMAL";
export const isBinary = (columns) => columns.welcome.model === "MODEL_KIND_LOGISTIC";

// What holds 90 % of the outcomes: the conformal interval where there is one, else the model's own.
function outcomes(p) {
  const learned = [number(p.conformal_lower), number(p.conformal_upper)];
  const there = (number(p.conformal_alpha) !== 0 || learned[0] !== learned[1]) && learned.every(Number.isFinite);
  return there ? learned : [number(p.interval_lower), number(p.interval_upper)];
}

// A sentence that says what is predicted, and how sure that is.
export function sentence(columns, p) {
  if (columns.classes > 0) {
    const best = p.probs.map((v, i) => [number(v), i]).sort((a, b) => b[0] - a[0])[0];
    const [lower, upper] = [number(p.probs_eti_lower[best[1]]), number(p.probs_eti_upper[best[1]])];
    return `${columns.target}: most likely ${columns.classNames[best[1]]}, ${percent(best[0])} (with 90 % certainty ${percent(lower)} to ${percent(upper)})${among(columns.classNames, p)}`;
  }
  if (isBinary(columns)) {
    const [lower, upper] = [number(p.interval_lower), number(p.interval_upper)];
    const what = columns.schema ? `${columns.target}` : `y = ${columns.positive}`;
    return `The chance that ${what}: ${percent(number(p.epred_mean))} (with 90 % certainty ${percent(lower)} to ${percent(upper)})${among(["no", "yes"], p)}`;
  }
  const [lower, upper] = outcomes(p);
  const spread = upper - lower;
  const inner = kTwoSided90 * number(p.epred_sd);
  return `${columns.target}: ${near(number(p.mean), spread)} expected (known to ± ${near(inner, inner)}); 90 % of outcomes between ${near(lower, spread)} and ${near(upper, spread)}`;
}

// Says which classes hold 90 % of the outcomes.
function among(names, p) {
  const set = p.conformal_set ?? [];
  return set.length === 0 ? "" : `; 90 % of outcomes are among: ${set.map((c) => names[c] ?? c).join(", ")}`;
}

export class PredictionView {
  constructor(columns) {
    this.columns = columns;
    this.classCount = Math.min(columns.classes, kMostClasses);
    this.outer = !isBinary(columns) && this.classCount === 0;
    this.chart = makeChart(byId("prediction-chart"), this.#options());
    key(byId("prediction-key"), this.#key());
    this.restart();
  }

  // Another row, or another model.
  restart() {
    this.track = new Track(this.classCount > 0 ? 3 * this.classCount : 5);
  }

  #options() {
    const series = [];
    const bands = [];
    if (this.classCount > 0) {
      for (let c = 0; c < this.classCount; ++c) {
        series.push(line(this.columns.classNames[c], kLineColours[c], { dash: c === 0 ? undefined : [3 + 3 * c, 3] }), edge("upper"), edge("lower"));
        bands.push(band(3 * c + 2, 3 * c + 3, "--band-faint"));
      }
    } else {
      series.push(edge("upper"), edge("lower"), edge("upper, expected"), edge("lower, expected"), line("expected", "--line-1"));
      if (this.outer) bands.push(band(1, 2, "--band-faint"));
      bands.push(band(3, 4, "--band"));
    }
    return { series, bands, time: true };
  }

  #key() {
    if (this.classCount > 0) {
      return this.columns.classNames.slice(0, this.classCount).map((name, c) => [kLineColours[c], name, c === 0 ? "line" : "dashed"]).concat([["--band-faint", "90 % interval of a probability", "area"]]);
    }
    if (!this.outer) return [["--line-1", "probability"], ["--band", "90 % interval of the probability", "area"]];
    return [["--line-1", "expected"], ["--band", "90 % interval of the expected value", "area"], ["--band-faint", "90 % of outcomes", "area"]];
  }

  // `now` in seconds.
  update(now, p) {
    if (this.classCount > 0) {
      const values = [];
      for (let c = 0; c < this.classCount; ++c) {
        values.push(number(p.probs[c]), number(p.probs_eti_upper[c]), number(p.probs_eti_lower[c]));
      }
      this.track.push(now, ...values);
    } else {
      const mean = number(p.epred_mean);
      const [lower, upper] = this.outer ? outcomes(p) : [number(p.interval_lower), number(p.interval_upper)];
      const inner = kTwoSided90 * number(p.epred_sd);
      if (this.outer) this.track.push(now, upper, lower, mean + inner, mean - inner, mean);
      else this.track.push(now, upper, lower, upper, lower, mean);
    }
    this.text = sentence(this.columns, p);
    say(byId("prediction-now"), this.text);
  }

  gap(now) {
    this.track.gap(now);
  }

  draw() {
    this.chart.set(this.track.data, `Chart over time. ${this.text ?? ""}`);
  }

  destroy() {
    this.chart.destroy();
  }
}
