// The manual that the daemon serves, as a browser has it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { close, launch, open, text } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

test("the page leads to the section of its reason, and the manual is searched by itself", async (t) => {
  const daemon = await Daemon.start(["--model.features", "2"]);
  if ((await fetch(`${daemon.url}docs/`)).status === 404) {
    await daemon.stop();
    return t.skip("the manual is not in windhoverd: mkdocs was not there to build it");
  }
  const page = await open(browser, daemon.url);
  await text(page, "#status-body", /too few/);
  await page.getByRole("link", { name: "More on few draws in the manual" }).click();
  await page.waitForURL(/\/docs\/status\.html#few_draws$/);
  assert.equal(await page.evaluate(() => document.querySelector(":target").textContent.trim().replace("#", "")), "few_draws");
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".name")).textDecorationLine), "none");
  await page.getByLabel("Search the manual").fill("score_autocorrelation");
  await text(page, "#mkdocs-search-results", /dependent_rows/);
  // From a page of another folder too, where all it needs lies elsewhere.
  await page.goto(`${daemon.url}docs/reference/http.html`);
  await page.getByLabel("Search the manual").fill("dependent rows");
  await page.locator("#mkdocs-search-results a", { hasText: "dependent_rows" }).first().click();
  await page.waitForURL(/\/docs\/status\.html#dependent_rows$/);
  await page.goto(`${daemon.url}docs/answers.html`);
  const broken = await page.evaluate(() => [...document.images].filter((image) => !image.complete || image.naturalWidth === 0).map((image) => image.src));
  assert.deepEqual(broken, []);
  await close(page);
  await daemon.stop();
});
