// What the open page takes of the machine, over minutes: WINDHOVER_LONG=1 asks for it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { close, launch, open, text } from "./browser.mjs";
import { Daemon, lines } from "./daemon.mjs";

const kMinutes = Number(process.env.WINDHOVER_PAGE_MINUTES ?? 10);
const kMostHeap = 50e6;
const kMostOfACore = 0.05;

const renderer = async (session) => (await session.send("SystemInfo.getProcessInfo")).processInfo
  .filter((p) => p.type === "renderer").reduce((sum, p) => sum + p.cpuTime, 0);
const everything = async (session) => (await session.send("SystemInfo.getProcessInfo")).processInfo.reduce((sum, p) => sum + p.cpuTime, 0);

test("less than 50 MB and 5 % of a core while rows stream in", { skip: process.env.WINDHOVER_LONG !== "1" && "only with --long" }, async () => {
  const daemon = await Daemon.start(["--model.features", "2", "--engine.window_size", "5000"]);
  await daemon.observe(lines(1000));
  const browser = await launch();
  const page = await open(browser, daemon.url);
  await text(page, "#coefficients-table", /intercept/);
  const system = await browser.newBrowserCDPSession();
  const heap = await page.context().newCDPSession(page);
  const used = async () => {
    await heap.send("HeapProfiler.collectGarbage");
    return (await heap.send("Runtime.getHeapUsage")).usedSize;
  };
  const began = { at: performance.now(), page: await renderer(system), all: await everything(system), heap: await used() };
  let most = began.heap;
  for (let second = 0; performance.now() - began.at < kMinutes * 60000; ++second) {
    await daemon.observe(lines(200, second));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    if (second % 30 === 0) most = Math.max(most, (await heap.send("Runtime.getHeapUsage")).usedSize);
  }
  const seconds = (performance.now() - began.at) / 1000;
  const share = (await renderer(system) - began.page) / seconds;
  const all = (await everything(system) - began.all) / seconds;
  const end = await used();
  console.log(`over ${seconds.toFixed(0)} s: ${(100 * share).toFixed(1)} % of a core for the page, ${(100 * all).toFixed(1)} % with all of Chromium's processes; heap ${(began.heap / 1e6).toFixed(1)} MB, at the end ${(end / 1e6).toFixed(1)} MB, at most ${(most / 1e6).toFixed(1)} MB with what is to be collected`);
  assert.ok(most < kMostHeap);
  assert.ok(share < kMostOfACore);
  await close(page);
  await browser.close();
  await daemon.stop();
});
