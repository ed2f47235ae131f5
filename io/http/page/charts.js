// Charts by uPlot (a global, from vendor/) in the colours of the page.
import { apart } from "./format.js";

const kFont = "12px system-ui, sans-serif";

let colours = {};  // the theme's, by their names in page.css

// "--band" and the like.
export const colour = (name) => {
  colours[name] ??= getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return colours[name];
};

const all = new Set();

// Redraws all charts after the theme has changed.
export function repaint() {
  colours = {};
  for (const chart of all) chart.redraw();
}

function axis(options = {}) {
  return {
    stroke: () => colour("--ink-soft"),
    font: kFont,
    grid: { stroke: () => colour("--grid"), width: 1 },
    ticks: { stroke: () => colour("--grid"), width: 1, size: 4 },
    ...options,
  };
}

const two = (n) => String(n).padStart(2, "0");

// Times of day, with seconds where marks are closer than a minute.
function times(chart, marks, _, __, step) {
  return marks.map((at) => {
    const t = new Date(at * 1000);
    return `${two(t.getHours())}:${two(t.getMinutes())}${step < 60 ? `:${two(t.getSeconds())}` : ""}`;
  });
}

// A line, or with `fill` alone the edge of a band.
export function line(label, name, options = {}) {
  return { label, stroke: () => colour(name), width: 2, points: { show: false }, ...options };
}
export const edge = (label) => ({ label, stroke: "transparent", width: 0, points: { show: false } });
export const band = (upper, lower, name) => ({ series: [upper, lower], fill: () => colour(name) });

// `host` fixes width and height; the chart follows it. `sentence` is what a screen reader says.
export function makeChart(host, { series, bands = [], x = {}, y = {}, scales = {}, hooks = {}, time = false }) {
  host.replaceChildren();
  host.setAttribute("role", "img");
  const horizontal = time ? { values: times, space: 80, ...x } : { space: (_, __, least, most) => apart(least, most), ...x };
  const options = {
    width: Math.max(200, host.clientWidth),
    height: Math.max(120, host.clientHeight),
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 26, 0, y.show === false ? 26 : 0],
    ms: 1e-3,
    scales: { x: { time }, ...scales },
    axes: [axis({ size: 30, ...horizontal }), axis({ size: 60, ...y })],
    series: [{}, ...series],
    bands,
    hooks,
  };
  const chart = new uPlot(options, series.map(() => []).concat([[]]), host);
  const watch = new ResizeObserver(() => {
    if (host.clientWidth > 0) chart.setSize({ width: host.clientWidth, height: host.clientHeight });
  });
  watch.observe(host);
  all.add(chart);
  return {
    set(data, sentence) {
      if (sentence && host.getAttribute("aria-label") !== sentence) host.setAttribute("aria-label", sentence);
      if (host.clientWidth > 0) chart.setData(data);
    },
    destroy() {
      watch.disconnect();
      all.delete(chart);
      chart.destroy();
      host.replaceChildren();
    },
  };
}

// The last `most` points of a few columns over time, the oldest forgotten.
export class Track {
  constructor(columns, most = 600) {
    this.most = most;
    this.columns = Array.from({ length: columns + 1 }, () => []);
  }
  push(...values) {
    this.columns.forEach((column, i) => {
      column.push(Number.isFinite(values[i]) ? values[i] : null);
      if (column.length > this.most) column.shift();
    });
  }
  // Nothing is known from here to the next point.
  gap(x) {
    const last = this.columns[1].at(-1);
    if (last !== undefined && last !== null) this.push(x);
  }
  get data() {
    return this.columns;
  }
}

// Entries [colour name, text] of a key below a chart; each has a sample of its colour.
export function key(node, entries) {
  node.replaceChildren(...entries.map(([name, text, shape = "line"]) => {
    const item = document.createElement("span");
    const sample = document.createElement("i");
    sample.className = shape;
    sample.style.setProperty("--sample", `var(${name})`);
    item.append(sample, text);
    return item;
  }));
}
