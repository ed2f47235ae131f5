// A question by the user, and the distribution of its answer.
import { colour, edge, line, makeChart } from "./charts.js";
import { countBars, countEdges, densityOf, kProbabilities } from "./distribution.js";
import { makeFields, makeText } from "./fields.js";
import { byId, el, number, percent, say } from "./format.js";
import { isBinary, isCount, isPositive, sentence } from "./prediction.js";

const kPauseMs = 120;     // pause in typing before the question is asked
const kManyColumns = 60;  // without names: one line of text
const kManyFields = 8;    // a search is worth its place
const kQuestions = 3;     // for the bars of a count
const kHashed = "The page cannot make a row of this model: its schema has hashed features. Ask with windhover predict --schema FILE --set NAME=VALUE.";

// What else is asked for to draw the distribution; classes have none.
export const extra = (columns) => (columns.classes > 0 ? {} : { quantile_probabilities: kProbabilities });

export class WhatIf {
  // ask(rows, more) -> predictions, `more` in place of extra(); follow(row, values) makes it the row
  // of the chart.
  constructor(columns, ask, follow) {
    this.columns = columns;
    this.ask = ask;
    this.values = columns.typical();
    this.aborter = new AbortController();
    const on = (id, event, action) => byId(id).addEventListener(event, action, { signal: this.aborter.signal });
    const many = columns.schema === null && columns.fields.length > kManyColumns;
    const make = many ? makeText : makeFields;
    byId("whatif-follow").hidden = byId("whatif-reset").hidden = columns.hashed;
    this.show = make(byId("whatif-fields"), columns.fields, this.values, () => this.#changed());
    this.show();
    const search = byId("whatif-search");
    search.hidden = many || columns.fields.length <= kManyFields;
    search.value = "";
    on("whatif-search", "input", () => this.#find(search.value.trim().toLowerCase()));
    on("whatif-form", "submit", (event) => event.preventDefault());
    on("whatif-form", "reset", (event) => {
      event.preventDefault();
      for (const [name, value] of columns.typical()) this.values.set(name, value);
      this.show();
      this.#changed();
    });
    on("whatif-follow", "click", () => follow(this.row(), new Map(this.values)));
    if (columns.hashed) {
      say(byId("whatif-now"), kHashed);
      byId("whatif-chart").replaceChildren();
    } else {
      this.#makeChart();
    }
  }

  row() {
    return this.columns.encode(this.values);
  }

  #find(text) {
    for (const field of byId("whatif-fields").children) field.hidden = !field.dataset.name.includes(text);
  }

  #changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try {
        const row = this.row();
        const [prediction] = await this.ask([row]);
        if (this.aborter.signal.aborted) return;
        this.update(prediction, row);
        // Read out once for each change of the user's, and not with every row that comes.
        say(byId("whatif-said"), sentence(this.columns, prediction));
      } catch (error) {
        this.refuse(error);
      }
    }, kPauseMs);
  }

  // Says that what is filled in now has no answer; the chart stays that of the last answer.
  refuse(error) {
    if (this.columns.hashed) return;
    say(byId("whatif-now"), `No answer: ${error.message}.`);
  }

  #makeChart() {
    const host = byId("whatif-chart");
    host.classList.toggle("bars", this.columns.classes > 0);
    if (this.columns.classes > 0) return;
    const marks = { mean: NaN };
    this.marks = marks;
    const paths = isCount(this.columns) ? uPlot.paths.bars({ size: [1, Infinity], gap: 1 }) : undefined;
    this.chart = makeChart(host, {
      series: [line("density", "--line-1", { paths, fill: () => colour("--band-faint") }), { ...edge("90 %"), paths, fill: () => colour("--band") }],
      scales: { y: { range: (_, __, most) => [0, (most || 1) * 1.08] } },
      y: { show: false },
      hooks: { draw: [(chart) => drawMark(chart, marks.mean)] },
    });
  }

  // `row`: what was asked.
  update(p, row) {
    if (this.columns.hashed) return;
    this.last = p;
    say(byId("whatif-now"), sentence(this.columns, p));
    if (this.columns.classes > 0) drawBars(byId("whatif-chart"), this.columns, p);
    else if (isCount(this.columns)) this.#drawCounts(p, row);
    else this.#drawDensity(p);
  }

  #drawDensity(p) {
    const bounds = isBinary(this.columns) ? { lowest: 0, highest: 1 } : { lowest: isPositive(this.columns) ? 0 : -Infinity };
    const curve = densityOf((p.quantiles ?? []).map(number), bounds);
    if (curve === null) this.#drawNothing();
    else this.#draw(curve.x, curve.density, p, "Density of the prediction.");
  }

  // Quantiles of a count are steps: what is drawn is asked for.
  async #drawCounts(p, row) {
    const most = this.columns.welcome.max_thresholds;
    const edges = countEdges((p.quantiles ?? []).map(number), kQuestions * most);
    const drawn = JSON.stringify([[...row], p.quantiles, p.epred_mean]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    if (edges.length < 2) {
      this.#drawNothing();
      return;
    }
    const above = [];
    try {
      for (let at = 0; at < edges.length; at += most) {
        const [answer] = await this.ask([row], { thresholds: edges.slice(at, at + most) });
        above.push(...answer.exceedance.map(number));
      }
    } catch (error) {
      if (this.drawn !== drawn) return;
      this.drawn = null;  // the next answer tries again
      this.#drawNothing(`There are no bars to draw: ${error.message}.`);
      return;
    }
    if (this.aborter.signal.aborted || this.drawn !== drawn) return;
    const { x, share } = countBars(edges, above);
    this.#draw(x, share, p, "Probabilities of the counts.");
  }

  #drawNothing(why = "There is no density to draw: the quantiles are all but equal.") {
    this.marks.mean = NaN;
    this.chart.set([[], [], []], why);
  }

  #draw(x, heights, p, what) {
    const [lower, upper] = [number(p.interval_lower), number(p.interval_upper)];
    const inside = heights.map((height, i) => (x[i] >= lower && x[i] <= upper ? height : null));
    this.marks.mean = number(p.epred_mean);
    this.chart.set([x, heights, inside], `${what} ${sentence(this.columns, p)}`);
  }

  destroy() {
    clearTimeout(this.timer);
    this.aborter.abort();
    this.chart?.destroy();
  }
}

function drawMark(chart, x) {
  if (!Number.isFinite(x)) return;
  const { ctx, bbox } = chart;
  const at = Math.round(chart.valToPos(x, "x", true));
  if (at < bbox.left || at > bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = colour("--ink");
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(at, bbox.top);
  ctx.lineTo(at, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

// Probabilities of classes with their intervals.
function drawBars(host, columns, p) {
  host.removeAttribute("role");
  const order = p.probs.map((v, i) => i).sort((a, b) => number(p.probs[b]) - number(p.probs[a])).slice(0, 20);
  host.replaceChildren(...order.map((c) => {
    const [at, lower, upper] = [number(p.probs[c]), number(p.probs_eti_lower[c]), number(p.probs_eti_upper[c])];
    const bar = el("i", { class: "bar" });
    const whisker = el("i", { class: "whisker" });
    bar.style.width = `${100 * at}%`;
    whisker.style.left = `${100 * lower}%`;
    whisker.style.width = `${100 * (upper - lower)}%`;
    return el("div", { class: "class" }, el("span", {}, columns.classNames[c]), el("span", { class: "track", "aria-hidden": "true" }, bar, whisker), el("span", {}, percent(at)));
  }));
}
