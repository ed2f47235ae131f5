import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { close, kPatience, launch, open, rowsOf, text, toNumber } from "./browser.mjs";
import { Daemon, folder, lines, program, write } from "./daemon.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const kPlain = ["--model.features", "2", "--engine.window_size", "2000"];

test("shows status, prediction, coefficients and calibration, and goes on as rows arrive", async () => {
  const daemon = await Daemon.start(kPlain);
  await daemon.observe(lines(1500));
  const page = await open(browser, daemon.url);
  await text(page, "#connection", /^live$/);
  await text(page, "#status-body .badge", /ok|degraded|warming|drifting/);
  await text(page, "#coefficients-table", /intercept/);
  const rows = await rowsOf(page, "#coefficients-table");
  assert.deepEqual(Object.keys(rows).sort(), ["intercept", "x1", "x2"]);
  await page.waitForFunction(() => Math.abs(Number(document.querySelectorAll("#coefficients-table tbody td")[1].textContent)) > 0.9, null, { timeout: kPatience });
  assert.ok(Math.abs(toNumber((await rowsOf(page, "#coefficients-table")).x1[2]) - 2) < 0.2);
  assert.match(await text(page, "#numbers", /1,500 so far/), /rows arriving/);
  await text(page, "#numbers", /the learner\s*rests/);
  await text(page, "#prediction-now", /90 % of outcomes between/);
  await text(page, "#calibration-table", /last 1,000|since the start/);
  await text(page, "#score-now", /times (as|less) likely/);
  await text(page, "#pit-now", /outcomes/);
  assert.match(await page.locator("#pit-chart").getAttribute("aria-label"), /^PIT histogram\. .*outcomes/);
  assert.equal(await page.locator("canvas").count(), 5);
  for (const chart of await page.locator(".chart").all()) {
    assert.match(await chart.getAttribute("aria-label"), /\S+ \S+/);
  }
  // What was before the page was opened.
  const events = await text(page, "#events", /cold start over/);
  assert.match(events, /the server began to serve it/);
  assert.match(events, /warming up → /);
  assert.ok(events.indexOf("cold start over") < events.indexOf("began to serve"), "the newest comes first");
  await daemon.observe(lines(400, 2));
  await text(page, "#numbers", /1,900 so far/);
  await page.waitForFunction(() => /1,900/.test(document.querySelector("#status-body dl").textContent), null, { timeout: kPatience });
  await close(page);
  await daemon.stop();
});

test("survives the death of the server, says so, and goes on with the next one", async () => {
  const daemon = await Daemon.start(kPlain);
  await daemon.observe(lines(1000));
  const page = await open(browser, daemon.url);
  await text(page, "#numbers", /1,000 so far/);
  await daemon.stop("SIGKILL");
  await text(page, "#connection", /no answer/);
  const next = await daemon.again();
  await next.observe(lines(700));
  await text(page, "#connection", /^live$/);
  await text(page, "#numbers", /700 so far/);
  const events = await text(page, "#events", /started anew/);
  assert.match(events, /does not answer/);
  assert.match(events, /answers again|started anew/);
  await close(page);
  await next.stop();
});

const kSchema = `
target = "price"
[[feature]]
field = "sqm"
kind = "number"
shift = 90
scale = 30
missing = "column"
[[feature]]
field = "hour"
kind = "harmonic"
period = 24
harmonics = 2
[[feature]]
field = "garden"
kind = "number"
reads = "boolean"
shift = 0
scale = 1
[[feature]]
field = "district"
kind = "category"
categories = ["north", "south", "harbour"]
other = "column"
missing = "column"
`;

// The page's rows are those that the command line makes of the same fields.
test("what-if answers as `windhover predict` does, field by field", async () => {
  const schema = write(folder(), "schema.toml", kSchema);
  const daemon = await Daemon.start(["--model.schema", schema, "--engine.window_size", "2000"]);
  const random = lines(1200).map(([a, b], i) => {
    const wave = (2 * Math.PI * (i % 24)) / 24;
    const garden = Math.floor(i / 7) % 2;
    const district = [0, 1, 2, 3, 4].map((d) => Number(Math.floor(i / 24) % 5 === d));
    return [a, Number(i % 11 === 0), Math.sin(wave), Math.cos(wave), Math.sin(2 * wave), Math.cos(2 * wave), garden, ...district,
      300 + 90 * a + 20 * Math.sin(wave) + 25 * garden + 40 * district[2] - 30 * district[4] + 0.1 * b];
  });
  await daemon.observe(random);
  const page = await open(browser, daemon.url);
  await text(page, "#prediction-title", /price/);
  await text(page, "#coefficients-table", /district=harbour/);
  const asked = [
    [{ sqm: "120", hour: "6.5", garden: "yes", district: "harbour" }, ["120", "6.5", "1", "harbour"]],
    [{ sqm: "75.5", hour: "22", garden: "no", district: "elsewhere" }, ["75.5", "22", "0", "\u0000other"]],
    [{ sqm: "NA", hour: "0", garden: "yes", district: "south" }, ["", "0", "1", "south"]],
    [{ sqm: "60", hour: "12", garden: "no", district: "" }, ["60", "12", "0", "\u0000missing"]],
    [{ sqm: "NA", hour: "12", garden: "no", district: "NA" }, ["", "12", "0", "\u0000missing"]],
  ];
  for (const [fields, [sqm, hour, garden, district]] of asked) {
    await page.getByLabel("sqm", { exact: true }).fill(sqm);
    await page.getByLabel("hour", { exact: true }).fill(hour);
    await page.getByLabel("garden", { exact: true }).selectOption(JSON.stringify(Number(garden)));
    await page.getByLabel("district", { exact: true }).selectOption(JSON.stringify(district));
    const words = Object.entries(fields).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
    await agree(() => meanOf(daemon, schema, words), () => expected(page));
  }
  // Categories beside one another: 0, 0 and 40 of those listed, 0 of others, -30 of missing ones.
  await text(page, "#coefficients-note", /all numbers at their mean, and of no category\. .*A category is told above the average of its field's\./);
  const told = JSON.parse(program("posterior", "--to", daemon.query, "--json", "--schema", schema)).category_effects;
  assert.equal(told.sd, "exact");
  const shown = await rowsOf(page, "#coefficients-table");
  for (const [name, truth] of [["=north", -13.33], ["=south", -13.33], ["=harbour", 26.67], ["=other", -13.33], [" missing", -43.33]]) {
    const { mean, sd } = told.effects.find((effect) => effect.name === `district${name}`);
    assert.ok(Math.abs(mean - truth) < 4 * sd + 0.01 && sd < 0.1, `${name}: ${mean} +- ${sd}`);
    const [, , middle, , spread] = shown[`district${name}`];
    assert.ok(Math.abs(toNumber(middle) - mean) < 0.2 * sd + 0.006, `${name}: ${middle}, ${mean}`);
    assert.ok(Math.abs(Number(spread) / sd - 1) < 0.1, `${name}: ${spread}, ${sd}`);
  }
  // Where the question about them is refused the parameters are shown as they are.
  const isOfCategories = (route) => (route.request().postDataJSON().rows === 11
    ? route.fulfill({ status: 400, json: { error: "no such question" } }) : route.continue());
  await page.route("**/v1/predict*", isOfCategories);
  await text(page, "#coefficients-note", /only the differences of these are known/);
  await page.unroute("**/v1/predict*", isOfCategories);
  // NaN in a row of columns is the missing value of its field.
  const [nan, named] = [["--x", "nan,0,0,1,0,1,1,0,1,0,0,0"], ["--schema", schema, "--set", "sqm=NA", "--set", "hour=0", "--set", "garden=yes", "--set", "district=south"]]
    .map((words) => JSON.parse(program("predict", "--to", daemon.query, "--json", ...words)).predictions[0].mean);
  assert.ok(Math.abs(nan - named) < 0.006, `${nan} and ${named}`);
  assert.throws(() => program("predict", "--to", daemon.query, "--x", "0,0,0,1,0,1,nan,0,1,0,0,0"));
  assert.match(await page.locator("#whatif-chart").getAttribute("aria-label"), /Density of the prediction/);
  // What the schema does not let be missing stays what it was.
  const hour = page.getByLabel("hour", { exact: true });
  const before = await expected(page);
  await hour.fill("");
  await hour.blur();
  assert.equal(toNumber(await hour.inputValue()), 12);
  assert.equal(await expected(page), before);
  await page.getByRole("button", { name: "Follow this row" }).click();
  assert.match(await text(page, "#prediction-row", /not known/), /district missing/);
  await page.getByRole("button", { name: "Back to the typical row" }).click();
  assert.equal(await page.getByLabel("sqm", { exact: true }).inputValue(), "90.0");
  await close(page);
  await daemon.stop();
});

// What the page says is expected, to two decimals.
async function expected(page) {
  return toNumber(/: ([-−\d.,]+) expected/.exec(await page.textContent("#whatif-now"))?.[1] ?? "NaN");
}

// No rows come, so that both are soon of the same posterior.
async function agree(exact, shown) {
  const deadline = Date.now() + kPatience;
  for (;;) {
    const [a, b] = [exact(), await shown()];
    if (Math.abs(a - b) < 0.006) return;
    assert.ok(Date.now() < deadline, `the page says ${b}, the command ${a}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function meanOf(daemon, schema, words) {
  const answer = JSON.parse(program("predict", "--to", daemon.query, "--schema", schema, "--json", ...words));
  return (answer.predictions?.[0] ?? answer).mean;
}

test("shows the model that is chosen, and the one that the address names", async () => {
  const here = folder();
  write(here, "a.toml", "[model]\nfeatures = 2\n");
  write(here, "b.toml", "[model]\nname = \"logistic\"\nfeatures = 1\n");
  write(here, "c.toml", "[model]\nname = \"softmax\"\nclasses = 3\nfeatures = 1\n");
  write(here, "d.toml", "[model]\nname = \"negative-binomial\"\nfeatures = 2\n");
  write(here, "e.toml", "[model]\nname = \"log-normal\"\nfeatures = 2\n");
  write(here, "f.toml", "[model]\nname = \"binomial\"\nfeatures = 2\n");
  const all = write(here, "all.toml", '[models]\nlines = "a.toml"\nclicks = "b.toml"\nkinds = "c.toml"\ncounts = "d.toml"\nprices = "e.toml"\nsales = "f.toml"\nrival = {file = "a.toml", follows = "lines"}\n[engine]\nwindow_size = 1000\n');
  const daemon = await Daemon.start(["--config", all]);
  await daemon.observe(lines(800), { model: "lines" });
  await daemon.observe(lines(800).map(([a, , y]) => [a, Number(y > 0)]), { model: "clicks" });
  await daemon.observe(lines(800).map(([a, , y]) => [a, y > 1 ? 2 : Number(y > -1)]), { model: "kinds" });
  await daemon.observe(lines(800).map(([a, b, y]) => [a, b, Math.max(0, Math.round(y + 3))]), { model: "counts" });
  await daemon.observe(lines(800).map(([a, b, y]) => [a, b, Math.exp(y)]), { model: "prices" });
  await daemon.observe(lines(800).map(([a, b, y]) => [a, b, Math.round(20 / (1 + Math.exp(-y)))]), { model: "sales", trials: 20 });
  const page = await open(browser, `${daemon.url}?model=clicks`);
  await text(page, "#prediction-now", /The chance that y = 1/);
  await text(page, "#models-table", /rival.*challenges lines/);
  assert.equal((await page.title()).includes("clicks"), true);
  await page.selectOption("#model", "kinds");
  await text(page, "#whatif-now", /most likely class/);
  await text(page, "#whatif-chart", /class 0.*class 2|class 2.*class 0/);
  assert.match(page.url(), /\?model=kinds$/);
  await text(page, "#coefficients-table", /class 2: x1/);
  await page.getByRole("button", { name: "lines", exact: true }).click();
  await daemon.observe(lines(200, 2), { model: "lines" });  // what came at first may be unscored
  await text(page, "#score-table", /rival \(challenger\)/);
  await page.selectOption("#model", "counts");
  await text(page, "#models-table", /counts that scatter/);
  await text(page, "#models-table", /positive numbers/);
  await text(page, "#coefficients-note", /logarithm/);
  await text(page, "#whatif-now", /90 % of outcomes between/);
  await page.locator('#whatif-chart[aria-label^="Probabilities of the counts"]').waitFor();
  // A row whose quantiles are the same whole numbers is asked for too.
  const asked = page.waitForRequest((request) => {
    const body = request.method() === "POST" ? request.postDataJSON() : {};
    return body.thresholds?.length > 0 && body.features_f64[0] === 0.001;
  });
  await page.getByLabel("x1", { exact: true }).fill("0.001");
  await asked;
  await page.selectOption("#model", "prices");
  await text(page, "#coefficients-note", /the logarithm of y .*0.1 is about 10 % more/);
  await text(page, "#whatif-now", /90 % of outcomes between/);
  await page.selectOption("#model", "sales");
  await text(page, "#models-table", /counts of trials/);
  await text(page, "#coefficients-note", /the log-odds of one trial of y/);
  await text(page, "#whatif-now", /y \(trials = 100\): .* expected/);
  await close(page);
  await daemon.stop();
});

test("notices that a model was replaced by one with other columns", async () => {
  const daemon = await Daemon.start([...kPlain, "--server.added.memory", "200000000"]);
  program("model", "add", "extra", "--set", "model.features=2", "--to", daemon.query);
  const page = await open(browser, `${daemon.url}?model=extra`);
  await text(page, "#coefficients-table", /x2/);
  program("model", "replace", "extra", "--set", "model.features=1", "--to", daemon.query);
  await page.waitForFunction(() => {
    const table = document.querySelector("#coefficients-table").textContent;
    return /x1/.test(table) && !/x2/.test(table);
  }, null, { timeout: kPatience });
  await text(page, "#events", /the model was replaced/);
  await text(page, "#connection", /^live$/);
  assert.doesNotMatch(await page.textContent("#events"), /does not answer/);
  await close(page);
  await daemon.stop();
});

test("a what-if row that the server refuses leaves the rest as it is", async () => {
  const daemon = await Daemon.start(kPlain);
  await daemon.observe(lines(1000));
  const page = await open(browser, daemon.url);
  await text(page, "#whatif-now", /expected/);
  await page.route("**/v1/predict*", async (route) => {
    const rows = route.request().postDataJSON().rows;
    if (rows === 1 || !(await page.getByLabel("x1", { exact: true }).inputValue()).startsWith("2.5")) return route.continue();
    return route.fulfill({ status: 400, json: { error: "the second row is refused" } });
  });
  const before = await page.textContent("#prediction-now");
  await page.getByLabel("x1", { exact: true }).fill("2.5");
  await text(page, "#whatif-now", /No answer: the second row is refused/);
  await daemon.observe(lines(200, 3));
  await page.waitForFunction((was) => document.querySelector("#prediction-now").textContent !== was, before, { timeout: kPatience });
  await text(page, "#numbers", /1,200 so far/);
  await text(page, "#connection", /^live$/);
  await page.getByLabel("x1", { exact: true }).fill("1.5");
  await text(page, "#whatif-now", /expected/);
  await close(page);
  await daemon.stop();
});

test("an answer that says no is not taken for none", async () => {
  const daemon = await Daemon.start(kPlain);
  await daemon.observe(lines(600));
  const page = await open(browser, daemon.url);
  await text(page, "#connection", /^live$/);
  await page.route("**/v1/status*", (route) => route.fulfill({ status: 429, json: { error: "too many questions" } }));
  await text(page, "#connection", /the server refuses: too many questions/);
  assert.doesNotMatch(await page.textContent("#events"), /does not answer/);
  await page.unroute("**/v1/status*");
  await text(page, "#connection", /^live$/);
  await close(page);
  await daemon.stop();
});

test("asks for a token where one is needed, keeps it in the tab, and says what it may not", async () => {
  const here = folder();
  const [reader, readerLine] = newToken("reader", "query");
  const [feeder, feederLine] = newToken("feeder", "observe");
  const file = write(here, "identities", `${readerLine}\n${feederLine}\n`);
  const daemon = await Daemon.start([...kPlain, "--server.identities_file", file]);
  await daemon.observe(lines(900), { token: feeder });
  const page = await open(browser, daemon.url);
  await text(page, "#connection", /a token is needed/);
  assert.equal(await page.locator("#status").isVisible(), false);
  await page.getByLabel("Token", { exact: true }).fill("of-nobody");
  await page.keyboard.press("Enter");
  await text(page, "#access-why", /The server said/);
  await page.getByLabel("Token", { exact: true }).fill(feeder);
  await page.keyboard.press("Enter");
  await text(page, "#numbers", /900 so far/);
  await text(page, "#prediction-now", /the role query is missing/);
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await page.getByLabel("Token", { exact: true }).fill(reader);
  await page.keyboard.press("Enter");
  await text(page, "#prediction-now", /90 % of outcomes between/);
  assert.equal(await page.locator("#access").isVisible(), false);
  assert.equal(await page.evaluate((t) => JSON.stringify({ ...localStorage }).includes(t) || location.href.includes(t) || document.cookie !== "", reader), false);
  await page.reload();
  await text(page, "#connection", /^live$/);
  await close(page);
  await daemon.stop();
});

// [token, line of the identities file]
function newToken(name, role) {
  const said = program("token", "new", name, "--role", role);
  return [/^windhover_\w+$/m.exec(said)[0], said.split("\n").find((line) => line.startsWith(`${name} `))];
}
