// The page's colours, as people see them who have no red, green or blue cones.
//
// Simulated by the matrices of Machado, Oliveira and Fernandes 2009 (severity 1, on linear RGB); how
// far apart two colours look is CIEDE2000 (Sharma, Wu and Dalal 2005), of which 2.3 is just noticed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const KINDS = {
  "all cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
};
const WHITE = [0.95047, 1, 1.08883];

const times = (matrix, v) => matrix.map((row) => row.reduce((sum, a, i) => sum + a * v[i], 0));

function linear(hex) {
  const parts = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
  return parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
}

function lab(rgb) {
  const inside = rgb.map((c) => Math.min(1, Math.max(0, c)));
  const xyz = times([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]], inside);
  const f = xyz.map((v, i) => v / WHITE[i]).map((t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116));
  return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])];
}

function difference([L1, a1, b1], [L2, a2, b2]) {
  const radians = Math.PI / 180;
  const seventh = (c) => Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const g = 0.5 * (1 - seventh((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2));
  const polar = (a, b) => {
    const scaled = a * (1 + g);
    return [Math.hypot(scaled, b), (Math.atan2(b, scaled) / radians + 360) % 360];
  };
  const [[c1, h1], [c2, h2]] = [polar(a1, b1), polar(a2, b2)];
  let turn = c1 * c2 === 0 ? 0 : h2 - h1;
  if (turn > 180) turn -= 360;
  if (turn < -180) turn += 360;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin(turn / 2 * radians);
  const L = (L1 + L2) / 2;
  const c = (c1 + c2) / 2;
  let h = c1 * c2 === 0 ? h1 + h2 : (h1 + h2) / 2;
  if (c1 * c2 !== 0 && Math.abs(h1 - h2) > 180) h += h1 + h2 < 360 ? 180 : -180;
  const cos = (degrees) => Math.cos(degrees * radians);
  const t = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
  const l = (L2 - L1) / (1 + 0.015 * (L - 50) ** 2 / Math.sqrt(20 + (L - 50) ** 2));
  const chroma = (c2 - c1) / (1 + 0.045 * c);
  const hue = dH / (1 + 0.015 * c * t);
  const rotation = -2 * seventh(c) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * radians);
  return Math.sqrt(l ** 2 + chroma ** 2 + hue ** 2 + rotation * chroma * hue);
}

function contrast(one, other) {
  const luminance = (hex) => times([[0.2126729, 0.7151522, 0.072175]], linear(hex))[0];
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const css = readFileSync(new URL("../../../io/http/page/page.css", import.meta.url), "utf8");
function palette(selector) {
  const block = css.slice(css.indexOf(selector)).match(/\{([^}]*)\}/)[1];
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})\b/g)].map((m) => [m[1], m[2]]));
}
const THEMES = { light: palette(":root {"), dark: palette(':root[data-theme="dark"] {') };
const seen = (hex, kind) => lab(times(KINDS[kind], linear(hex)));
const pairs = (names) => names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b]));

test("differences are those that CIEDE2000's authors print", () => {
  // Pairs 1, 7, 17 and 25 of their table 1.
  for (const [one, other, printed] of [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 0, 0], [50, -1, 2], 2.3669],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
  ]) assert.ok(Math.abs(difference(one, other) - printed) < 1e-4, `${difference(one, other)}, not ${printed}`);
});

const APART = 5 * 2.3;

for (const [theme, colours] of Object.entries(THEMES)) {
  const groups = { lines: Object.keys(colours).filter((name) => name.startsWith("line-")), tones: ["good", "wait", "warn", "bad"] };
  for (const [group, names] of Object.entries(groups)) {
    test(`${group} are told apart, ${theme}`, () => {
      assert.ok(names.length >= 4 && names.every((name) => colours[name]));
      for (const kind of Object.keys(KINDS)) {
        for (const [a, b] of pairs(names)) {
          const far = difference(seen(colours[a], kind), seen(colours[b], kind));
          assert.ok(far >= APART, `${a} and ${b}, ${kind}: ${far.toFixed(1)}`);
        }
      }
    });
  }
  test(`lines and texts stand out, ${theme}`, () => {
    for (const name of groups.lines) assert.ok(contrast(colours[name], colours.card) >= 3, name);
    for (const name of [...groups.tones, "ink", "ink-soft", "link"]) {
      assert.ok(contrast(colours[name], colours.card) >= 4.5, name);
      const paper = colours[`${name}-paper`] ?? colours.paper;
      assert.ok(contrast(colours[name], paper) >= 4.5, `${name} on its paper`);
    }
  });
}

test("both ways to dark have the same colours", () => {
  assert.deepEqual(palette(':root:not([data-theme="light"]) {'), THEMES.dark);
});
