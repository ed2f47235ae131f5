// What a person fills in: one input a field, also where a schema makes several features of it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Columns } from "../../../io/http/page/columns.js";
import { readingOf } from "../../../io/http/page/inputs.js";

const columnsOf = (...features) => {
  const named = features.map((feature) => ({ missing: "row", ...feature }));
  return new Columns({ features: named.flatMap((f) => f.columns).length, dimension: 0 }, { target: "y", features: named });
};
const number = (field, shift, scale, more = {}) => ({ field, kind: "number", columns: [field], shift, scale, ...more });
const wave = (field, period, more = {}) => ({ field, kind: "harmonic", columns: [`${field} sin`, `${field} cos`], period, ...more });
const only = (columns) => {
  assert.equal(columns.fields.length, 1, columns.fields.map((f) => f.name).join());
  return columns.fields[0];
};
const today = () => new Date(Date.now() - 60000 * new Date().getTimezoneOffset()).toISOString().slice(0, 10);

test("a date with waves is one field, whose typical day is the mean of its number, in whichever order", () => {
  const date = { reads: "date" };
  const features = [number("day", 19722.4, 210, date), wave("day", 7, date), wave("day", 365.25, date)];
  for (const order of [features, [...features].reverse()]) {
    const columns = columnsOf(...order);
    const field = only(columns);
    assert.deepEqual([...columns.typical()], [["day", 19722]]);
    assert.deepEqual([field.low, field.high, field.step, field.today], [Math.round(19722.4 - 630), Math.round(19722.4 + 630), 1, false]);
    assert.equal(readingOf(field).text(19722), "2023-12-31");
    const row = columns.encode(columns.typical());
    const [numberAt, weekAt] = order === features ? [0, 1] : [4, 2];
    assert.ok(Math.abs(row.get(numberAt)) < 0.01, "the mean is 0");
    assert.ok(Math.abs(row.get(weekAt) - Math.sin((2 * Math.PI * 19722) / 7)) < 1e-9);
  }
});

test("a day is asked for with its time where there is a wave of the time of day", () => {
  const date = { reads: "date" };
  const field = only(columnsOf(number("at", 19722.40001, 210, date), wave("at", 1, date)));
  const reading = readingOf(field);
  assert.equal(reading.type, "datetime-local");
  assert.equal(reading.text(field.typical), "2023-12-31T09:36");
  assert.equal(reading.value("2023-12-31T09:36"), field.typical, "what is asked is what is shown");
  assert.equal(reading.value(""), null);
  const plain = readingOf(only(columnsOf(number("at", 19722.4, 210, date), wave("at", 7, date))));
  assert.deepEqual([plain.type, plain.text(19722), plain.value("2023-12-31"), plain.value("")], ["date", "2023-12-31", 19722, null]);
});

test("a date of which there are only waves is today's at first", () => {
  for (let again = 0; again < 2; ++again) {
    const before = today();
    const field = only(columnsOf(wave("day", 7, { reads: "date" }), wave("day", 365.25, { reads: "date" })));
    const shown = readingOf(field).text(field.typical);
    if (before !== today()) continue; // midnight
    assert.equal(shown, before);
    assert.ok(field.today);
    assert.deepEqual([field.low, field.high], [field.typical, field.typical + 365]);
    break;
  }
  const hour = only(columnsOf(wave("hour", 24, { reads: "number" })));
  assert.deepEqual([hour.typical, hour.low, hour.high, hour.today], [0, 0, 24, false]);
});

test("curves, numbers without waves and interactions are as they were", () => {
  const spline = (field) => ({ field, kind: "spline", columns: [`${field} a`, `${field} b`], knots: [1, 4, 9] });
  const columns = columnsOf(spline("s"), number("n", 90, 30), { field: "s x n", kind: "interaction", fields: ["s", "n"], columns: ["a", "b"] });
  assert.deepEqual([...columns.typical()], [["s", 4], ["n", 90]]);
  assert.deepEqual(columns.fields.map((f) => [f.low, f.high]), [[1, 9], [0, 180]]);
  const both = only(columnsOf(spline("s"), wave("s", 7)));
  assert.deepEqual([both.typical, both.low, both.high], [4, 1, 9]);
  assert.deepEqual(only(columnsOf(number("t", 20, 3, { reads: "time" }))).high, 1439 / 60, "no later than 23:59");
  const plain = new Columns({ features: 2, dimension: 3 }, null);
  assert.deepEqual(plain.fields.map((f) => [f.name, f.typical, f.low, f.high]), [["x1", 0, -3, 3], ["x2", 0, -3, 3]]);
});

test("a yes or no whose empty cells count as its mean is typically what is more frequent", () => {
  for (const [mean, typical] of [[0, 0], [0.3, 0], [0.7, 1]]) {
    assert.equal(only(columnsOf(number("garden", mean, 1, { reads: "boolean", missing: "column", columns: ["garden", "garden missing"] }))).typical, typical);
  }
});

test("a field may be missing where all its features may", () => {
  assert.equal(only(columnsOf(number("a", 1, 1, { missing: "zero" }), wave("a", 7))).optional, false);
  const columns = columnsOf(number("a", 1, 1, { missing: "column", columns: ["a", "a missing"] }), wave("a", 7, { missing: "zero" }));
  assert.equal(only(columns).optional, true);
  assert.deepEqual([...columns.encode(new Map([["a", null]]))], [[1, 1]]);
});

test("a field that is a number and a category too is asked for as a number", () => {
  const category = { field: "month", kind: "category", columns: ["m=1", "m=02", "m=other", "m missing"], categories: ["1", "02"], other: "column", missing: "column" };
  const columns = columnsOf(number("month", 6, 2, { missing: "zero" }), category);
  assert.deepEqual([only(columns).kind, only(columns).typical], ["number", 6]);
  const row = (value) => [...columns.encode(new Map([["month", value]]))].filter(([, x]) => x !== 0);
  assert.deepEqual(row(2), [[0, -2], [2, 1]]);
  assert.deepEqual(row(6), [[3, 1]]);
  assert.deepEqual(row(null), [[4, 1]]);
});
