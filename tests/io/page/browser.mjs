// Chromium by Playwright, and a page whose every complaint fails the test.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const { chromium } = createRequire(`${process.env.WINDHOVER_PLAYWRIGHT}/`)("playwright-core");

export const kPatience = 60000;  // a test waits for what it expects, for no time of its own

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
});

export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(kPatience);
  page.complaints = [];
  page.elsewhere = [];
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("console", (message) => {
    // An answer other than 200, or none, is the network's to say.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) page.complaints.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(url).origin)) page.elsewhere.push(request.url());
  });
  await load(page, url);
  return page;
}

// A starved browser may connect and say nothing until the server lets it go.
async function load(page, url) {
  for (let more = 3; ; --more) {
    try {
      return await page.goto(url);
    } catch (error) {
      if (more === 0 || !/ERR_(SOCKET_NOT_CONNECTED|CONNECTION_RESET|CONNECTION_CLOSED|EMPTY_RESPONSE)/.test(String(error))) throw error;
    }
  }
}

export async function close(page) {
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.elsewhere, [], "asked of another site");
  await page.context().close();
}

// The text of an element once it matches.
export async function text(page, selector, pattern) {
  await page.waitForFunction(
    ([s, source]) => new RegExp(source).test(document.querySelector(s)?.textContent ?? ""),
    [selector, pattern.source], { timeout: kPatience },
  ).catch(async (error) => {
    const is = await page.textContent(selector).catch(() => "(not there)");
    throw new Error(`${selector} is “${is}”, not ${pattern}`, { cause: error });
  });
  return page.textContent(selector);
}

// The first cell's text -> those of all cells, of a table.
export const rowsOf = (page, table) => page.evaluate((t) => Object.fromEntries(
  [...document.querySelectorAll(`${t} tbody tr`)].map((tr) => [tr.cells[0].textContent, [...tr.cells].map((c) => c.textContent)])), table);

export const toNumber = (shown) => Number(shown.replaceAll(",", "").replace("−", "-"));
