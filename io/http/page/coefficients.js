// Coefficients with their intervals, in units of the data: sorted, searched.
import { byId, el, near, number, say, short, whole } from "./format.js";

const kShown = 20;
const kHalfWidth = 1.6448536269514722;  // a normal's 90 % interval, in standard deviations

// What a coefficient is a change of.
function outcome(columns) {
  switch (columns.welcome.model) {
    case "MODEL_KIND_LOGISTIC":
      return `the log-odds of ${columns.schema ? columns.target : "y = 1"}`;
    case "MODEL_KIND_BINOMIAL":
      return `the log-odds of one trial of ${columns.schema?.target_description ?? "y"}`;
    case "MODEL_KIND_POISSON":
    case "MODEL_KIND_NEGATIVE_BINOMIAL":
    case "MODEL_KIND_ZERO_INFLATED_POISSON":
      return `the logarithm of the expected ${columns.target}`;
    case "MODEL_KIND_HETEROSCEDASTIC":
      return `the expected ${columns.target}, and of the logarithm of its variance`;
    case "MODEL_KIND_LOG_NORMAL":
      return `the logarithm of ${columns.target}`;
    case "MODEL_KIND_SOFTMAX":
      return `the log-odds of a class against ${columns.classNames[0]}`;
    default:
      return `the expected ${columns.target}`;
  }
}

// Models whose linear predictor is a logarithm: what a change of it does to the quantity itself.
const kLogarithms = [
  "MODEL_KIND_LOG_NORMAL", "MODEL_KIND_POISSON", "MODEL_KIND_NEGATIVE_BINOMIAL", "MODEL_KIND_ZERO_INFLATED_POISSON",
];
const factor = (columns) => (kLogarithms.includes(columns.welcome.model) ? " A change of 0.1 is about 10 % more." : "");

// The entry of the parameter at place `at`. Values are per unit of the field; the picture is of the
// column as the server has it, where a schema has scaled numbers by their standard deviation.
// `effect`: the effect of a category compared with the others of its field, {mean, sd}, or
// undefined.
function entryOf(columns, result, at, effect) {
  const parameter = columns.parameters[at] ?? { name: `theta${at}`, scale: 1 };
  if (effect !== undefined) {
    const [lower, upper] = [effect.mean - kHalfWidth * effect.sd, effect.mean + kHalfWidth * effect.sd];
    return {
      name: parameter.name, mean: effect.mean, lower, upper, sd: effect.sd, robust: NaN, draws: NaN, rhat: NaN,
      drawn: [lower, effect.mean, upper], clear: Math.abs(effect.mean) / effect.sd,
    };
  }
  const value = (field) => number(result[field]?.[at]);
  const mean = value("mean");
  const sd = value("sd");
  return {
    name: parameter.name,
    mean: mean / parameter.scale,
    lower: value("q5") / parameter.scale,
    upper: value("q95") / parameter.scale,
    sd: sd / parameter.scale,
    robust: value("sd_robust") / parameter.scale,
    draws: value("ess_bulk"),
    rhat: value("r_hat"),
    drawn: parameter.intercept ? null : [value("q5"), mean, value("q95")],
    clear: Math.abs(mean) / sd,
  };
}

const kHeadings = [
  { key: "name", text: "column", down: false },
  { key: "clear", text: "effect", down: true, means: "sorted by how surely it is not 0" },
  { key: "mean", text: "mean", down: true },
  { key: "lower", text: "90 % interval", down: true },
  { key: "sd", text: "sd", down: true },
  { key: "robust", text: "sd robust", down: true, wide: true },
  { key: "draws", text: "eff. draws", down: false, wide: true },
  { key: "rhat", text: "R-hat", down: true, wide: true },
];

// The interval and its middle on an axis from -reach to reach.
function picture(drawn, reach) {
  const track = el("span", { class: "track zero", "aria-hidden": "true" });
  if (drawn === null || !drawn.every(Number.isFinite)) return track;
  const place = (v) => `${(50 + (50 * v) / reach).toFixed(2)}%`;
  const [lower, mean, upper] = drawn;
  const range = el("i", { class: lower > 0 || upper < 0 ? "range clear" : "range" });
  range.style.left = place(lower);
  range.style.width = `${((50 * (upper - lower)) / reach).toFixed(2)}%`;
  const dot = el("i", { class: "dot" });
  dot.style.left = place(mean);
  track.append(range, dot);
  return track;
}

export class CoefficientsView {
  constructor(columns) {
    this.columns = columns;
    this.entries = [];
    this.sorted = kHeadings[1];
    this.down = true;
    this.all = false;
    this.above = "";
    this.aborter = new AbortController();
    const on = (id, event, action) => byId(id).addEventListener(event, action, { signal: this.aborter.signal });
    byId("coefficients-search").value = "";
    on("coefficients-search", "input", () => this.draw());
    on("coefficients-all", "click", () => {
      this.all = !this.all;
      this.draw();
    });
    this.#makeTable();
    this.#note();
  }

  #makeTable() {
    this.heads = kHeadings.map((heading) => {
      const button = el("button", { type: "button", onclick: () => this.#sort(heading) }, heading.text);
      if (heading.means) button.title = heading.means;
      return el("th", { scope: "col", class: heading.wide ? "wide" : null }, button);
    });
    this.body = el("tbody");
    byId("coefficients-table").replaceChildren(el("thead", {}, el("tr", {}, ...this.heads)), this.body);
  }

  #note() {
    if (this.columns.network) {
      say(byId("coefficients-note"), "Weights of a network: none of them is the effect of a column. What a column does is seen under What if.");
      return;
    }
    const scaled = this.columns.parameters.some((p) => p.unit && p.scale !== 1);
    const unit = this.columns.schema ? "one unit of a number" : "one unit of the column";
    const shared = this.above === "" ? "" : ` ${this.above}`;
    const at = `a row with all numbers at their mean${shared ? ", and of no category" : ""}`;
    const intercept = scaled ? `The intercept is that of ${at}. The picture is for one standard deviation of a number.` : "The intercept is that of a row of zeros.";
    say(byId("coefficients-note"), `The change of ${outcome(this.columns)} for ${unit}.${factor(this.columns)} ${intercept}${shared} Intervals that do not hold 0 are drawn in full.`);
  }

  // How to read the categories: `told` of them above the others of their field.
  #aboveText(told, draws) {
    if (told > 0) {
      return `A category is told above the average of its field's${draws > 0 ? `, its sd of ${draws} draws` : ""}.`;
    }
    return this.columns.placed.some((field) => field.kind === "category" && field.columns.length > 1)
      ? "Where every row has one of a field's categories only the differences of these are known, and each by itself is not." : "";
  }

  #sort(heading) {
    this.down = this.sorted === heading ? !this.down : heading.down;
    this.sorted = heading;
    this.draw();
  }

  // {effects, draws}: of categoryEffects().
  update(result, { effects, draws }) {
    this.entries = (result.mean ?? []).map((_, i) => entryOf(this.columns, result, i, effects.get(i)));
    this.above = this.#aboveText(effects.size, draws);
    this.#note();
    const edges = this.entries.flatMap((e) => (e.drawn ?? []).map(Math.abs)).filter(Number.isFinite);
    this.reach = edges.reduce((a, b) => Math.max(a, b), 0) * 1.02 || 1;
    this.draw();
  }

  #listed() {
    const text = byId("coefficients-search").value.trim().toLowerCase();
    const { key } = this.sorted;
    const sign = this.down ? -1 : 1;
    const last = (v) => (Number.isNaN(v) ? -Infinity * sign : v);
    const compare = key === "name" ? (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }) * sign
                                   : (a, b) => (last(a[key]) - last(b[key])) * sign || 0;
    return this.entries.filter((e) => e.name.toLowerCase().includes(text)).sort(compare);
  }

  draw() {
    const listed = this.#listed();
    const shown = this.all ? listed : listed.slice(0, kShown);
    const button = byId("coefficients-all");
    button.hidden = listed.length <= kShown;
    say(button, this.all ? `Show ${kShown}` : `Show all ${whole(listed.length)}`);
    say(byId("coefficients-count"), `${whole(listed.length)} of ${whole(this.entries.length)}`);
    this.heads.forEach((head, i) => {
      const sorts = kHeadings[i] === this.sorted;
      if (sorts) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.body.replaceChildren(...shown.map((e) => this.#row(e)));
  }

  #row(e) {
    const cell = (text, type = "n") => el("td", { class: type }, text);
    return el("tr", {},
      el("th", { scope: "row" }, e.name),
      el("td", { class: "effect" }, picture(e.drawn, this.reach)),
      cell(near(e.mean, e.sd)),
      cell(`${near(e.lower, e.sd)} … ${near(e.upper, e.sd)}`),
      cell(short(e.sd, 2)),
      cell(short(e.robust, 2), "n wide"),
      cell(whole(e.draws), "n wide"),
      cell(short(e.rhat, 3), "n wide"));
  }

  destroy() {
    this.aborter.abort();
  }
}
