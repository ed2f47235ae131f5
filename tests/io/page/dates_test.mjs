// Days with a wave of the week, as `windhover schema` makes them of a file of daily numbers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { close, kPatience, launch, open, text, toNumber } from "./browser.mjs";
import { Daemon, folder, program, randomNumbers, write } from "./daemon.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const kFirst = Date.UTC(2023, 0, 1) / 86400000;
const written = (day) => new Date(day * 86400000).toISOString().slice(0, 10);

// Two years of days, 100 a day and 20 more or less by the day of the week.
async function sales(...words) {
  const { normal } = randomNumbers(5);
  const days = Array.from({ length: 730 }, (_, i) => [written(kFirst + i), Math.max(0, Math.round(100 + 20 * Math.sin((2 * Math.PI * i) / 7) + 3 * normal()))]);
  const here = folder();
  const file = write(here, "sales.csv", `day,sales\n${days.map((row) => row.join()).join("\n")}\n`);
  const schema = write(here, "sales.toml", program("schema", file, "--target", "sales", ...words));
  return { file, schema, daemon: await Daemon.start(["--model.schema", schema, "--engine.window_size", "2000"]) };
}

const meanOf = ({ daemon, schema }, day) =>
  JSON.parse(program("predict", "--to", daemon.query, "--schema", schema, "--json", "--set", `day=${day}`)).predictions[0].mean;

// Waits until the section says what the command line does; no rows come, so that both soon speak of
// the same posterior.
async function agree(page, selector, exact) {
  const deadline = Date.now() + kPatience;
  for (;;) {
    const shown = toNumber(/: ([-−\d.,]+) expected/.exec(await page.textContent(selector))?.[1] ?? "NaN");
    const answer = exact();
    if (Math.abs(shown - answer) < 0.06) return;
    assert.ok(Date.now() < deadline, `the page says ${shown}, the command ${answer}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test("a date with a wave is one input, and typically the middle of the days that are known", async () => {
  const world = await sales();
  assert.match(program("schema", "--schema", world.schema, "--names"), /day period 7 sin 1/, "there is a wave");
  program("send", world.file, "--schema", world.schema, "--to", world.daemon.observes);
  const page = await open(browser, world.daemon.url);
  await text(page, "#whatif-now", /expected/);
  assert.equal(await page.locator("#whatif-fields .field").count(), 1);
  const day = page.getByLabel("day", { exact: true });
  assert.match(await day.inputValue(), /^(2023-12-31|2024-01-01)$/);
  await agree(page, "#prediction-now", () => meanOf(world, "2024-01-01"));
  // The slider goes over all of them, in days.
  const slider = page.getByLabel("day, slider");
  const [low, high] = [Number(await slider.getAttribute("min")), Number(await slider.getAttribute("max"))];
  assert.ok(low < kFirst && high > kFirst + 730 && high - low < 4 * 730, `${low} to ${high}`);
  for (const shown of ["2024-12-31", "2023-06-07"]) {
    await day.fill(shown);
    await agree(page, "#whatif-now", () => meanOf(world, shown));
  }
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await day.inputValue(), "2023-06-08");
  await agree(page, "#whatif-now", () => meanOf(world, "2023-06-08"));
  await page.getByRole("button", { name: "Follow this row" }).click();
  await text(page, "#prediction-row", /: day 2023-06-08; all else typical\.$/);
  await close(page);
  await world.daemon.stop();
});

test("counts of a day are no astronomical ones before rows have come", async () => {
  const world = await sales("--model", "negative-binomial");
  const page = await open(browser, world.daemon.url);
  const said = await text(page, "#whatif-now", /expected/);
  const shown = /: (\S+) expected/.exec(said)[1];
  assert.ok(toNumber(shown) < 1e6, said);
  await close(page);
  await world.daemon.stop();
});

test("of a date that has only a wave the form says that it is today", async () => {
  const schema = write(folder(), "s.toml", 'target = "y"\n[[feature]]\nfield = "day"\nkind = "harmonic"\nreads = "year-month-day"\nperiod = 7\n');
  const daemon = await Daemon.start(["--model.schema", schema, "--engine.window_size", "2000"]);
  const page = await open(browser, daemon.url);
  await text(page, "#whatif-fields", /Today at first/);
  await text(page, "#prediction-row", /day \d{4}-\d\d-\d\d, which is today/);
  const today = () => page.evaluate(() => new Date(Date.now() - 60000 * new Date().getTimezoneOffset()).toISOString().slice(0, 10));
  const shown = await page.getByLabel("day", { exact: true }).inputValue();
  const now = await today();
  assert.ok(shown === now || Date.parse(now) - Date.parse(shown) === 86400000, `${shown}, not ${now}`);
  await close(page);
  await daemon.stop();
});
