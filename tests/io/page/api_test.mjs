// Answers that are none: those that arrive in part.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { close, kPatience, launch, open, text } from "./browser.mjs";
import { Daemon, lines } from "./daemon.mjs";

globalThis.sessionStorage = { getItem: () => null };
const { ask } = await import("../../../io/http/page/api.js");

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

// What `ask` says of a server that answers so.
async function said(answer) {
  const server = createServer((_, response) => answer(response)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    return await ask(`http://127.0.0.1:${server.address().port}/v1/status`);
  } catch (error) {
    return [error.status, error.message];
  } finally {
    server.close();
  }
}

test("what cannot be read is no answer, and a refusal without a reason is one", async () => {
  const ends = (status, body) => (response) => response.writeHead(status).end(body);
  const none = [0, "what it sent cannot be read"];
  assert.deepEqual(await said(ends(200, '{"a": 1}')), { a: 1 });
  for (const body of ['{"a": ', "", "null", "5", "<html></html>"]) assert.deepEqual(await said(ends(200, body)), none, body);
  // The connection breaks, though what has come may be read.
  assert.deepEqual(await said((response) => {
    response.writeHead(200, { "Content-Length": 100 }).write('{"a": 1}', () => response.destroy());
  }), none);
  assert.deepEqual(await said((response) => response.destroy()), [0, "it cannot be reached"]);
  assert.deepEqual(await said(ends(403, '{"error": "the role is missing"}')), [403, "the role is missing"]);
  assert.deepEqual(await said(ends(502, "<html></html>")), [502, "HTTP 502"]);
  assert.deepEqual(await said(ends(401, "")), [401, "HTTP 401"]);
});

test("half an answer is no answer, whatever was asked, and the page goes on with the next", async () => {
  const daemon = await Daemon.start(["--model.features", "2", "--engine.window_size", "2000"]);
  await daemon.observe(lines(600));
  const page = await open(browser, daemon.url);
  await text(page, "#connection", /^live$/);
  for (const what of ["predict", "status", "posterior"]) {
    await page.route(`**/v1/${what}*`, (route) => route.fulfill({ status: 200, contentType: "application/json", body: '{"provenance":{' }));
    await text(page, "#connection", /^no answer \(what it sent cannot be read\); trying again$/);
    await page.unroute(`**/v1/${what}*`);
    await text(page, "#connection", /^live$/);
  }
  assert.match(await page.textContent("#events"), /the server does not answer: what it sent cannot be read/);
  await close(page);
  await daemon.stop();
});

test("a file of the page that does not come is told of, and the page loads again", async () => {
  const daemon = await Daemon.start(["--model.features", "2", "--engine.window_size", "2000"]);
  await daemon.observe(lines(600));
  for (const file of ["main.js", "format.js", "page.css", "vendor/uplot/uPlot.iife.min.js"]) {
    const page = await browser.newPage();
    let lost = 0;
    await page.route(`**/page/${file}`, (route) => lost++ === 0 ? route.abort() : route.continue());
    const came = page.waitForResponse(`**/page/${file}`, { timeout: kPatience });
    await page.goto(daemon.url);
    // Modules go on without the others.
    if (!file.includes("uplot") && file.endsWith(".js")) await text(page, "#connection", /^a file of this page did not come; trying again$/);
    await came;
    await text(page, "#connection", /^live$/);
    assert.equal(lost, 2, file);
    await page.close();
  }
  await daemon.stop();
});
