// Who uses no mouse, a small screen, a screen reader, or sees colours in another way.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { close, kPatience, launch, open, rowsOf, text } from "./browser.mjs";
import { Daemon, folder, lines, write } from "./daemon.mjs";

let browser;
let daemon;
before(async () => {
  browser = await launch();
  const here = folder();
  write(here, "a.toml", "[model]\nfeatures = 2\n");
  daemon = await Daemon.start(["--config", write(here, "all.toml", '[models]\nsome-longer-name = "a.toml"\nrival = {file = "a.toml", follows = "some-longer-name"}\n[engine]\nwindow_size = 1000\n')]);
  await daemon.observe(lines(1200));
});
after(async () => {
  await browser.close();
  await daemon.stop();
});

const focused = (page) => page.evaluate(() => {
  const e = document.activeElement;
  return e.id || e.textContent.trim().slice(0, 30) || e.getAttribute("aria-label") || e.tagName;
});

test("everything is reached and worked by the keyboard", async () => {
  const page = await open(browser, daemon.url);
  await text(page, "#coefficients-table", /intercept/);
  await text(page, "#models-table", /rival/);
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to the status");
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), "status");
  const seen = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press("Tab");
    seen.add(await focused(page));
  }
  for (const wanted of ["rival", "field-0", "x1, slider", "whatif-follow", "whatif-reset", "coefficients-search", "mean", "model", "hold", "theme"]) {
    assert.ok(seen.has(wanted), `Tab does not come to ${wanted}, but to ${[...seen].join("; ")}`);
  }
  const sort = page.getByRole("button", { name: "mean", exact: true });
  await sort.focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.getByRole("columnheader", { name: "mean" }).getAttribute("aria-sort"), "descending");
  assert.equal(Object.keys(await rowsOf(page, "#coefficients-table"))[0], "x1");
  await page.keyboard.press("Space");
  assert.equal(await page.getByRole("columnheader", { name: "mean" }).getAttribute("aria-sort"), "ascending");
  await page.getByLabel("Find a column").fill("x2");
  assert.deepEqual(Object.keys(await rowsOf(page, "#coefficients-table")), ["x2"]);
  const before = await page.textContent("#whatif-now");
  await page.getByLabel("x1, slider").focus();
  await page.keyboard.press("End");
  await page.waitForFunction((was) => document.querySelector("#whatif-now").textContent !== was, before, { timeout: kPatience });
  assert.equal(await page.getByLabel("x1", { exact: true }).inputValue(), "3.00");
  await text(page, "#whatif-said", /90 % of outcomes/);
  await page.getByRole("button", { name: "rival", exact: true }).focus();
  await page.keyboard.press("Enter");
  await text(page, "#models-table", /rival/);
  await page.waitForFunction(() => document.querySelector("#model").value === "rival", null, { timeout: kPatience });
  await close(page);
});

test("no sideways scrolling at 400 pixels, in light and in dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(browser, daemon.url, { viewport: { width: 400, height: 800 }, colorScheme });
    await text(page, "#coefficients-table", /intercept/);
    await text(page, "#calibration-table", /last 1,000/);
    const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= screen, `the page is ${wide} wide on a screen of ${screen}`);
    for (const chart of await page.locator(".chart").all()) {
      const box = await chart.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 400);
    }
    await close(page);
  }
});

test("every input, button, chart and table has a name", async () => {
  const page = await open(browser, daemon.url);
  await text(page, "#coefficients-table", /intercept/);
  const nameless = await page.evaluate(() => [...document.querySelectorAll("input, select, button, [role=img], [role=region]")]
    .filter((e) => {
      const by = e.getAttribute("aria-labelledby");
      const named = e.getAttribute("aria-label") || (by && document.getElementById(by)?.textContent) || e.labels?.[0]?.textContent;
      return !(named || (e.tagName === "BUTTON" && e.textContent)).trim();
    }).map((e) => e.outerHTML));
  assert.deepEqual(nameless, []);
  const headings = await page.evaluate(() => [...document.querySelectorAll("table")].filter((t) => t.tHead && ![...t.tHead.rows[0].cells].every((c) => c.scope === "col")).length);
  assert.equal(headings, 0);
  assert.equal(await page.getAttribute("html", "lang"), "en");
  await close(page);
});

// WCAG 2.1: how well text stands out of its ground; 4.5 is asked of text, 3 of lines and signs.
const contrasts = (pairs) => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => {
    const hex = style.getPropertyValue(name).trim();
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return pairs.map(([a, b]) => {
    const [more, less] = [light(a), light(b)].sort((x, y) => y - x);
    return (more + 0.05) / (less + 0.05);
  });
};

test("text and lines stand out, in light and in dark, by the system or by the button", async () => {
  const words = [["--ink", "--card"], ["--ink", "--paper"], ["--ink-soft", "--card"], ["--ink-soft", "--paper"], ["--link", "--card"], ["--ink", "--button"],
    ...["good", "wait", "warn", "bad"].flatMap((tone) => [["--ink", `--${tone}-paper`], [`--${tone}`, "--card"]])];
  const shapes = [1, 2, 3, 4, 5].map((i) => [`--line-${i}`, "--card"]);
  const expectClear = async (page, where) => {
    for (const [pairs, least] of [[words, 4.5], [shapes, 3]]) {
      (await page.evaluate(contrasts, pairs)).forEach((c, i) => assert.ok(c >= least, `${where}: ${pairs[i]} has ${c.toFixed(2)}`));
    }
  };
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(browser, daemon.url, { colorScheme });
    await text(page, "#connection", /^live$/);
    await expectClear(page, colorScheme);
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const system = await ground();
    await page.locator("#theme").click();
    const chosenLight = await ground();
    await page.locator("#theme").click();
    await expectClear(page, `${colorScheme}, dark by the button`);
    assert.notEqual(await ground(), chosenLight);
    assert.equal(system === chosenLight, colorScheme === "light");
    await close(page);
  }
});
