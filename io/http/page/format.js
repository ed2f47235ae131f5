// Numbers as people read them, and elements of the document.

// Numbers of 64 bits and those that are not finite come as text.
export const number = (value) => (value === undefined || value === null ? NaN : Number(value));

const kNone = "–";
const kFormats = new Map();

function format(value, key, options) {
  if (!kFormats.has(key)) kFormats.set(key, new Intl.NumberFormat("en", options));
  const text = kFormats.get(key).format(value).replace("-", "−");
  return /^−0[.0]*$/.test(text) ? text.slice(1) : text;
}

// Four significant digits, unless it is told otherwise.
export function short(value, digits = 4) {
  if (Number.isNaN(value)) return kNone;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(digits - 2).replace("-", "−");
  return format(value, `s${digits}`, { maximumSignificantDigits: digits });
}

// Pixels from one mark of an axis to the next, so that numbers of this range stand apart.
export const apart = (least, most) => Math.max(50, 18 + 7.5 * Math.max(short(least).length, short(most).length));

// The value with the decimals that a spread of this size gives a meaning to.
export function near(value, spread) {
  if (!Number.isFinite(value) || !(spread > 0)) return short(value);
  const decimals = Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(spread))));
  if (Math.abs(value) >= 1e7 || decimals > 7) return short(value);
  return format(value, `d${decimals}`, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

export const whole = (value) => (Number.isFinite(value) ? format(value, "w", { maximumFractionDigits: 0 }) : kNone);

export const percent = (share, decimals = 1) => (Number.isFinite(share) ? `${(100 * share).toFixed(decimals)}\u00a0%` : kNone);

export function duration(ns) {
  if (!Number.isFinite(ns)) return kNone;
  const s = ns / 1e9;
  if (s < 1e-3) return `${short(s * 1e6, 3)} µs`;
  if (s < 1) return `${short(s * 1e3, 3)} ms`;
  if (s < 120) return `${short(s, 3)} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} days`;
}

export function bytes(count) {
  if (!Number.isFinite(count) || count === 0) return kNone;
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  return `${short(count / 1024 ** power, 3)} ${units[power]}`;
}

export const clock = (ms) => new Date(ms).toTimeString().slice(0, 8);

// An element: el("td", {class: "n"}, "text", child).
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export const byId = (id) => document.getElementById(id);

// Writes only what has changed, so that nothing is laid out, or read out, anew for nothing.
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// [[term, text, explanation], ...] into a <dl>, keeping its elements.
export function facts(list, entries) {
  while (list.children.length > entries.length) list.lastElementChild.remove();
  entries.forEach(([term, text, meaning], i) => {
    const group = list.children[i] ?? list.appendChild(el("div", {}, el("dt"), el("dd"), el("dd", { class: "fine" })));
    say(group.children[0], term);
    say(group.children[1], text);
    say(group.children[2], meaning ?? "");
  });
}

// Rows of texts or nodes into a table with a heading; the first cell of each is its row's heading.
export function table(node, headings, rows) {
  const head = el("thead", {}, el("tr", {}, ...headings.map((h) => el("th", { scope: "col" }, h))));
  const body = rows.map((cells) =>
    el("tr", {}, ...cells.map((c, i) => (i === 0 ? el("th", { scope: "row" }, c) : el("td", {}, c)))));
  node.replaceChildren(head, el("tbody", {}, ...body));
}
