// What the page computes itself.
import assert from "node:assert/strict";
import { test } from "node:test";

import { categoryEffects } from "../../../io/http/page/categories.js";
import { Columns, kMissing, kOther } from "../../../io/http/page/columns.js";
import { countBars, countEdges, densityOf, kProbabilities, normalQuantile } from "../../../io/http/page/distribution.js";
import { textOf } from "../../../io/http/page/events.js";
import { apart, bytes, duration, near, number, short } from "../../../io/http/page/format.js";
import { splineWeights } from "../../../io/http/page/spline.js";
import { judgePit, pitBins } from "../../../io/http/page/pit.js";
import { agreement, judge, learning, noneScored, waitingText } from "../../../io/http/page/judgement.js";

const total = ({ x, density }) => density.slice(1).reduce((sum, d, i) => sum + ((d + density[i]) / 2) * (x[i + 1] - x[i]), 0);

test("the density of a normal's quantiles is that normal", () => {
  const [mean, sd] = [300, 25];
  const curve = densityOf(kProbabilities.map((p) => mean + sd * normalQuantile(p)));
  curve.x.forEach((x, i) => {
    const exact = Math.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * Math.sqrt(2 * Math.PI));
    assert.ok(Math.abs(curve.density[i] - exact) < 1e-6 / sd, `at ${x}`);
  });
});

test("the density of a skewed distribution holds all of its probability", () => {
  const curve = densityOf(kProbabilities.map((p) => -Math.log(1 - p)), { lowest: 0 });  // exponential
  assert.ok(Math.abs(total(curve) - 1) < 0.02, String(total(curve)));
  assert.ok(curve.density.every((d) => d >= 0 && Number.isFinite(d)));
  const at = (x) => curve.density[curve.x.findIndex((v) => v >= x)];
  assert.ok(Math.abs(at(1) - Math.exp(-1)) < 0.03);
  assert.ok(Math.abs(at(2) - Math.exp(-2)) < 0.02);
});

test("a point has no density", () => {
  assert.equal(densityOf(kProbabilities.map(() => 7)), null);
});

test("the bars of a count are its probabilities", () => {
  for (const [mean, most] of [[2.7, 24], [9.5, 24], [400, 24]]) {
    const mass = [Math.exp(-mean)];  // Poisson's
    for (let k = 1; k < 600; ++k) mass.push((mass[k - 1] * mean) / k);
    const below = (k) => mass.slice(0, k + 1).reduce((sum, m) => sum + m, 0);
    const quantiles = kProbabilities.map((p) => mass.findIndex((_, k) => below(k) >= p));
    const edges = countEdges(quantiles, most);
    assert.ok(edges.length <= most && edges[0] === quantiles[0] - 1 && edges.at(-1) >= quantiles.at(-1));
    const width = edges[1] - edges[0];
    const { x, share } = countBars(edges, edges.map((edge) => 1 - below(edge)));
    x.forEach((middle, i) => {
      const counts = mass.slice(middle - (width - 1) / 2, middle + (width - 1) / 2 + 1);
      assert.equal(counts.length, width);
      const exact = counts.reduce((sum, m) => sum + m, 0) / width;
      assert.ok(Math.abs(share[i] - exact) < 1e-9, `${mean}: ${middle}`);
    });
    assert.ok(share.reduce((sum, s) => sum + s * width, 0) > 0.985);
  }
  assert.deepEqual(countBars(countEdges(kProbabilities.map(() => 7), 24), [1, 0]), { x: [7], share: [1] });
  assert.deepEqual(countEdges([NaN], 24), []);
});

test("normal quantiles are those of the tables", () => {
  for (const [p, z] of [[0.5, 0], [0.975, 1.959963985], [0.05, -1.644853627], [0.995, 2.575829304], [0.001, -3.090232306]]) {
    assert.ok(Math.abs(normalQuantile(p) - z) < 1e-6, `${p}`);
  }
});

const schema = {
  target: "y", target_description: "y", target_kind: "classes", classes: ["a", "b", "c"],
  features: [
    { field: "n", kind: "number", missing: "column", columns: ["n", "n missing"], shift: 10, scale: 2 },
    { field: "k", kind: "category", missing: "zero", columns: ["k=u", "k=v"], categories: ["u", "v"], other: "zero" },
  ],
};

test("fields become columns, dense and sparse", () => {
  const welcome = { features: 4, dimension: 10, classes: 3, max_nonzeros: 0 };
  const columns = new Columns(welcome, schema);
  const dense = (n, k) => columns.question([columns.encode(new Map([["n", n], ["k", k]]))]).features_f64;
  assert.deepEqual(dense(14, "v"), [2, 0, 0, 1]);
  assert.deepEqual(dense(null, kOther), [0, 1, 0, 0]);
  assert.deepEqual(dense(10, kMissing), [0, 0, 0, 0]);
  const sparse = new Columns({ ...welcome, max_nonzeros: 3 }, schema);
  const rows = [new Map([["n", 14], ["k", "v"]]), new Map([["n", 10], ["k", "u"]])].map((v) => sparse.encode(v));
  assert.deepEqual(sparse.question(rows), { rows: 2, features_f64: [2, 1, 1], indices: [0, 3, 2], row_ends: [2, 3] });
});

test("curves and interactions become columns as in a file", () => {
  const district = { field: "d", kind: "category", missing: "row", columns: ["d=u", "d=v"], categories: ["u", "v"], other: "zero" };
  const curved = { ...schema, features: [
    { field: "n", kind: "number", missing: "row", columns: ["n"], shift: 10, scale: 2 },
    { field: "s", kind: "spline", missing: "column", columns: ["s at 0", "s at 2", "s missing"], knots: [0, 1, 2] }, district,
    { field: "s x d", kind: "interaction", fields: ["s", "d"], columns: ["a", "b", "c", "d"] }] };
  const columns = new Columns({ features: 10, dimension: 22, classes: 3, max_nonzeros: 0 }, curved);
  assert.deepEqual(columns.fields.map((field) => field.name), ["n", "s", "d"]);
  assert.deepEqual(columns.parameters.slice(0, 4).map((p) => p.scale), [2, 1, 1, 1]);
  const row = (s, d) => columns.question([columns.encode(new Map([["n", 12], ["s", s], ["d", d]]))]).features_f64;
  // The curvature at the middle knot is 3/2 (s(0) - 2 s(1) + s(2)), at the ends and beyond it is 0.
  const close = (actual, expected) => actual.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-12, `${actual}`));
  close(row(1, "v"), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
  close(row(2, "v"), [1, 0, 1, 0, 0, 1, 0, 0, 0, 1]);
  close(row(3, "u"), [1, 0.25, 2.25, 0, 1, 0, 0.25, 0, 2.25, 0]);
  close(row(0.5, "u"), [1, 0.40625, -0.09375, 0, 1, 0, 0.40625, 0, -0.09375, 0]);
  close(row(null, "u"), [1, 0, 0, 1, 1, 0, 0, 0, 0, 0]);
  assert.equal(columns.typical().get("s"), 1);
});

test("categories are told above the average of those listed", async () => {
  const twoFields = { ...schema, classes: [], features: [
    { field: "c", kind: "category", missing: "column", columns: ["c=u", "c=v", "c=other", "c=missing"], categories: ["u", "v"], other: "column" },
    { field: "n", kind: "number", missing: "row", columns: ["n"], shift: 10, scale: 2 },
    { field: "d", kind: "category", missing: "zero", columns: ["d=x"], categories: ["x"], other: "zero" }] };
  const welcome = { features: 6, dimension: 7, max_nonzeros: 0, max_query_rows: 64, frame_cap: 65536 };
  const means = [0, 1, 2, 3, 4, 5, 6];  // with variances 1 to 7, independent
  const predict = async (rows) => rows.map((row) => {
    const all = [...row, [6, 1]];
    return { linpred_mean: all.reduce((sum, [j, x]) => sum + x * means[j], 0), linpred_sd: Math.sqrt(all.reduce((sum, [j, x]) => sum + x * x * (j + 1), 0)) };
  });
  const never = () => assert.fail("asked for draws");
  const exact = await categoryEffects(new Columns(welcome, twoFields), predict, means, never);
  assert.equal(exact.draws, 0);
  assert.deepEqual([...exact.effects.keys()], [0, 1, 2, 3]);
  [[-0.5, 0.75], [0.5, 0.75], [1.5, 3.75], [2.5, 4.75]].forEach(([mean, variance], i) => {
    assert.ok(Math.abs(exact.effects.get(i).mean - mean) < 1e-12);
    assert.ok(Math.abs(exact.effects.get(i).sd ** 2 - variance) < 1e-9, `${i}: ${exact.effects.get(i).sd ** 2}`);
  });
  // One that alone is listed is no effect: the others are told above it.
  const alone = { ...twoFields, features: [{ ...twoFields.features[0], columns: ["c=u", "c=other", "c=missing"], categories: ["u"] }] };
  const above = await categoryEffects(new Columns({ ...welcome, features: 3, dimension: 4 }, alone), predict, means.slice(0, 4), never);
  assert.deepEqual([...above.effects].map(([at, { mean, sd }]) => [at, mean, Math.round(sd ** 2)]), [[1, 1, 3], [2, 2, 4]]);
  // Crossed with d the products count, of an average of d's two; with n they are 0 at its mean.
  const crossed = { ...twoFields, features: [
    { field: "c", kind: "category", missing: "row", columns: ["c=u", "c=v"], categories: ["u", "v"], other: "zero" },
    { field: "d", kind: "category", missing: "row", columns: ["d=x", "d=y"], categories: ["x", "y"], other: "zero" },
    { field: "n", kind: "number", missing: "row", columns: ["n"], shift: 10, scale: 2 },
    { field: "c x d", kind: "interaction", fields: ["c", "d"], columns: ["ux", "uy", "vx", "vy"] },
    { field: "c x n", kind: "interaction", fields: ["c", "n"], columns: ["un", "vn"] }] };
  const theta = [0, 1, 0, 3, 9, 10, 20, 0, 6, 70, 80, 500];
  const linear = async (rows) => rows.map((row) => ({ linpred_mean: [...row].reduce((sum, [j, x]) => sum + x * theta[j], 500), linpred_sd: 0 }));
  const both = await categoryEffects(new Columns({ ...welcome, features: 11, dimension: 12 }, crossed), linear, theta, never);
  // The means: u has 0 + (10 + 20) / 2, v 1 + (0 + 6) / 2, x 0 + (10 + 0) / 2, y 3 + (20 + 6) / 2.
  [5.5, -5.5, -5.5, 5.5].forEach((mean, i) => assert.ok(Math.abs(both.effects.get(i).mean - mean) < 1e-9, `${i}: ${both.effects.get(i).mean}`));
  // Three draws of two pages, whose effects of u are -0.5, 0.5 and 1.5.
  const pages = [[0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], [2, -1, 0, 0, 0, 0, 0]];
  const draw = async ({ first = 0, snapshot_id: id = "7" }) => {
    assert.equal(id, "7");
    return { theta: pages[first / 2], dimension: 7, first, provenance: { draws: 3, snapshot_id: "7" } };
  };
  const sparse = await categoryEffects(new Columns({ ...welcome, max_nonzeros: 3 }, twoFields), never, means, draw);
  assert.equal(sparse.draws, 3);
  assert.deepEqual(sparse.effects.get(0), { mean: -0.5, sd: 1 });
});

test("the weights of a spline hold every line, and sum to 1", () => {
  const knots = [-2, -1.5, 1, 4, 4.5, 10];
  for (let x = -8; x < 20; x += 0.3) {
    const weights = splineWeights(knots, x);
    assert.ok(Math.abs(weights.reduce((sum, w) => sum + w, 0) - 1) < 1e-12);
    assert.ok(Math.abs(weights.reduce((sum, w, i) => sum + w * knots[i], 0) - x) < 1e-11);
  }
});

test("questions of a binomial model are about a hundred trials", () => {
  const counted = { ...schema, target_kind: "count", target_description: "y of n", classes: [], trials: "n" };
  const welcome = { features: 4, dimension: 5, max_nonzeros: 0, takes_trials: true };
  const columns = new Columns(welcome, counted);
  const row = columns.encode(columns.typical());
  assert.deepEqual(columns.question([row, row]).trials, [100, 100]);
  assert.equal(columns.target, "y of n (n = 100)");
  assert.equal(new Columns(welcome, null).target, "y (trials = 100)");
  assert.equal("trials" in new Columns({ ...welcome, takes_trials: false }, schema).question([row]), false);
});

test("parameters have the names and units of their columns", () => {
  const columns = new Columns({ features: 4, dimension: 10, classes: 3 }, schema);
  assert.equal(columns.parameters.length, 10);
  assert.deepEqual(columns.parameters.map((p) => p.name).slice(0, 6), ["b: n", "b: n missing", "b: k=u", "b: k=v", "b: intercept", "c: n"]);
  assert.deepEqual(columns.parameters.slice(0, 2).map((p) => p.scale), [2, 1]);
  const network = new Columns({ features: 4, dimension: 31 }, schema);
  assert.equal(network.parameters[30].name, "theta30");
  assert.ok(network.network && !columns.network);
  // The network has as many parameters as softmax would have.
  const weights = new Columns({ features: 4, dimension: 10, classes: 3, network: true }, schema);
  assert.deepEqual(weights.parameters.map((p) => p.name), Array.from({ length: 10 }, (_, i) => `theta${i}`));
});

test("hashed features have names, and no question by fields", () => {
  const hashed = { ...schema, features: [...schema.features,
    { field: "a x b", kind: "hash", missing: "column", fields: ["a", "b"], first_column: 4, buckets: 3 },
    { field: "m", kind: "number", missing: "row", columns: ["m"], shift: 0, scale: 4 }] };
  const columns = new Columns({ features: 9, dimension: 20, classes: 3, max_nonzeros: 5 }, hashed);
  assert.ok(columns.hashed && !new Columns({ features: 4, dimension: 10, classes: 3 }, schema).hashed);
  assert.deepEqual(columns.fields, []);
  assert.deepEqual(columns.question([columns.encode(columns.typical())]), { rows: 1, features_f64: [], indices: [], row_ends: [0] });
  const names = columns.parameters.map((p) => p.name.replace("b: ", ""));
  assert.deepEqual(names.slice(4, 10), ["hash(a x b) 0", "hash(a x b) 1", "hash(a x b) 2", "hash(a x b) missing", "m", "intercept"]);
  assert.deepEqual(columns.parameters[8], { name: "b: m", scale: 4, unit: true });
  hashed.features[2].buckets = 1 << 23;
  assert.deepEqual(new Columns({ features: (1 << 23) + 6, dimension: (1 << 23) + 7, max_nonzeros: 5 }, hashed).parameters, []);
});

test("numbers are written with the digits that mean something", () => {
  assert.equal(near(312.4567, 25), "312");
  assert.equal(near(312.4567, 2.5), "312.5");
  assert.equal(near(-0.0123456, 0.002), "−0.0123");
  assert.equal(near(-0.004, 2), "0.0");
  assert.equal(short(number("NaN")), "–");
  assert.equal(short(number("-Infinity")), "−∞");
  assert.equal(short(1234567.8), "1,235,000");
  assert.equal(duration(1500), "1.5 µs");
  assert.equal(duration(3 * 3600e9), "3 h 0 min");
  assert.equal(bytes(35.7 * 1024 * 1024), "35.7 MiB");
});

test("numbers of an axis stand apart, long ones farther", () => {
  assert.equal(apart(0, 1), 50);
  assert.ok(apart(250000, 450000) >= 70, "seven characters of 12 pixels take 49");
  assert.ok(apart(-0.00012, 5) > apart(-1, 5));
});

test("the histogram of outcomes says what its shape means", () => {
  const flat = Array.from({ length: 10 }, () => 0.1);
  assert.equal(pitBins([], false), null);
  assert.equal(pitBins([NaN, 1], false), null);
  const bins = pitBins(flat, false);
  assert.ok(bins.times.every((t) => Math.abs(t - 1) < 1e-12) && bins.centres[0] === 0.05 && bins.centres[9] === 0.95);
  assert.match(judgePit(bins, 1000), /^Flat/);
  const said = (shares, folded = false, rows = 1000) => judgePit(pitBins(shares, folded), rows);
  assert.match(said([0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.1, 0.1, 0.2]), /outermost 20.% .* more than/);
  assert.match(said([0.02, 0.1, 0.1, 0.1, 0.18, 0.18, 0.1, 0.1, 0.1, 0.02]), /fewer than/);
  assert.match(said([0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.15, 0.15]), /60.*% .* above .* too low/);
  assert.match(said([0.15, 0.15, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05]), /below .* too high/);
  // The fault that is farther beyond chance is said: too few outside by 7.9 standard deviations, or
  // too many below by 2.5; and the other way round.
  assert.match(said([0.05, 0.05, 0.05, 0.09, 0.3, 0.26, 0.05, 0.05, 0.05, 0.05]), /^10.*% .* outermost 20.% .* fewer than/);
  assert.match(said([0.03, 0.07, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2], false, 1000), /^60.*% .* above/);
  // A tenth more of so few rows is chance.
  assert.match(said([0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.15, 0.15], false, 50), /^Flat/);
  const classes = [0, 0, 0, 0, 0, 0.1, 0.1, 0.2, 0.2, 0.4];
  assert.deepEqual(pitBins(classes, true).times.map((t) => Math.round(10 * t)), [5, 5, 10, 10, 20]);
  assert.match(said(classes, true), /40.*% .* outermost 20.% .* more than/);
});

test("every reason of the protocol has a sentence, what to do, and a section of the manual", async () => {
  const { readFileSync } = await import("node:fs");
  const proto = readFileSync(new URL("../../../io/windhover.proto", import.meta.url), "utf8");
  const manual = readFileSync(new URL("../../../tools/manual/pages/status.md", import.meta.url), "utf8");
  const sections = [...manual.matchAll(/^## (.*)$/gm)].map((m) => m[1].toLowerCase().replaceAll(" ", "-"));
  const linked = ({ page }) => assert.ok(sections.includes(/^\/docs\/status\.html#(.*)$/.exec(page)?.[1]), page);
  const names = [...proto.matchAll(/(POSTERIOR_(REASON|STATE)_\w+) = \d+;/g)].map((m) => m[1]);
  assert.ok(names.length >= 20);
  for (const name of names) {
    if (name.startsWith("POSTERIOR_STATE_")) {
      assert.notEqual(judge({ state: name, reason: "POSTERIOR_REASON_NONE" }).state.sign, "?", name);
    } else if (name !== "POSTERIOR_REASON_NONE") {
      const said = judge({ state: "POSTERIOR_STATE_DEGRADED", reason: name });
      assert.ok(said.why.endsWith(".") && said.what.length > 10, `${name}: ${said.why} ${said.what}`);
      assert.ok(said.page.endsWith(`#${name.replace("POSTERIOR_REASON_", "").toLowerCase()}`), said.page);
      linked(said);
    }
    linked(judge({ state: "POSTERIOR_STATE_OK", reason: "POSTERIOR_REASON_NONE" }));
  }
});

test("dependent rows are told by their number, and few of them, of which there is none, in other words", () => {
  const said = (score_autocorrelation) =>
    judge({ state: "POSTERIOR_STATE_DEGRADED", reason: "POSTERIOR_REASON_DEPENDENT_ROWS", score_autocorrelation });
  assert.match(said(3.25).why, /vary 3.25 times/);
  assert.match(said(3.25).what, /sd robust/);
  assert.match(said(1).why, /neighbouring rows is alike, though .* only 1 times/);
  for (const none of ["NaN", undefined]) {
    assert.match(said(none).why, /^There are few rows yet/);
    assert.doesNotMatch(said(none).why + said(none).what, /NaN|undefined|sd robust/);
  }
});

test("an event of the server becomes a sentence", () => {
  const day = new Date("2026-11-24T03:12:07").getTime();
  const status = {
    kind: "EVENT_KIND_STATUS", from: "POSTERIOR_STATE_OK", state: "POSTERIOR_STATE_DRIFTING", reason: "POSTERIOR_REASON_DRIFT",
    number: 5.523, times: "1", drift_onset: "11000", drift_onset_time_ns: String(day * 1e6),
  };
  assert.equal(textOf(status), "ok → drifting (drift, 5.52), since about row 11,000, 2026-11-24 03:12:07");
  const often = { ...status, state: "POSTERIOR_STATE_OK", from: "POSTERIOR_STATE_DEGRADED", reason: "POSTERIOR_REASON_NONE", number: "NaN", times: "37", first_time_ns: String(day * 1e6), drift_onset: "0", drift_onset_time_ns: "0" };
  assert.equal(textOf(often), "degraded → ok; 37 times since 2026-11-24 03:12:07");
  assert.equal(textOf({ kind: "EVENT_KIND_RESIZED", number: 12500, before: 100000 }), "as many as 12,500 rows, before 100,000");
  assert.equal(textOf({ kind: "EVENT_KIND_OF_LATER" }), "of later");
});

test("a learner is at work, rests, or stands still while rows wait", () => {
  const at = (now, steps, head, sequence) => ({ now, status: { head, provenance: { sequence }, runtime_counters: [{ label: "steps", value: steps }] } });
  assert.equal(learning([at(0, "5", "10", "10")])[0], "–");
  assert.equal(learning([at(0, "5", "10", "10"), at(1, "5", "10", "10")])[0], "–");
  assert.equal(learning([at(0, "5", "10", "10"), at(3, "6", "10", "10")])[0], "at work");
  assert.equal(learning([at(0, "5", "10", "10"), at(3, "5", "10", "10")])[0], "rests");
  assert.equal(learning([at(0, "5", "10", "10"), at(3, "5", "12", "10")])[0], "stands still");
  assert.equal(learning([{ now: 0, status: {} }, { now: 3, status: {} }])[0], "–");
  assert.equal(learning([])[0], "–");
});

test("an R-hat is told beside what chance makes of it", () => {
  assert.equal(agreement(1.23, 1.25), "chains agree: chance makes up to 1.25");
  assert.equal(agreement(1.26, 1.25), "above 1.25, the most that chance makes");
  assert.equal(agreement(3, Infinity), "too few draws to compare chains");
  assert.equal(agreement(0, 0), "chains have not been compared");
  assert.equal(agreement(NaN, NaN), "chains have not been compared");
  assert.equal(agreement(1.1, NaN), "", "a server from before it says the number");
});

test("it is said why there is no score", () => {
  assert.equal(noneScored(0), "No predictions have been scored yet.");
  assert.match(noneScored(2000), /none of the 2,000 rows that came/);
});

test("senders that wait for the disk are told of with what to do", () => {
  assert.equal(waitingText(undefined), "");
  assert.equal(waitingText({ log_status: "REASON_OK", checkpoint_status: "REASON_IO_ERROR" }), "");
  assert.match(waitingText({ log_status: "REASON_IO_ERROR" }), /^Senders wait: the log cannot be written \(io_error\)\. Mend/);
  assert.match(waitingText({ log_status: "REASON_LOG_FULL", checkpoint_status: "REASON_NOT_PERMITTED" }), /is full .* checkpoints fail \(not_permitted\)\. Mend/);
  assert.match(waitingText({ log_status: "REASON_LOG_FULL", checkpoint_status: "REASON_OK" }), /is full until the next checkpoint/);
});
