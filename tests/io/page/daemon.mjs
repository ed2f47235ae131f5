// A windhoverd of a test's own, and rows for it.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

// None outlives the tests, also when one fails.
const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

export const folder = () => mkdtempSync(join(process.env.WINDHOVER_FOLDER, "test-"));

export function write(where, name, text) {
  const path = join(where, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

export const program = (...words) => execFileSync(process.env.WINDHOVER, words, { encoding: "utf8" });

export class Daemon {
  // Serves when it comes back. `port` 0: any free one, else that of a daemon before.
  static async start(words, port = 0) {
    const daemon = new Daemon();
    daemon.words = words;
    daemon.child = spawn(process.env.WINDHOVERD, [
      "--server.observe.tcp_port", "0", "--server.query.tcp_port", "0",
      "--server.http.tcp_address", "127.0.0.1", "--server.http.tcp_port", String(port), ...words,
    ], { stdio: ["ignore", "pipe", "inherit"] });
    children.add(daemon.child);
    daemon.ended = new Promise((resolve) => daemon.child.once("exit", resolve));
    const ready = await Promise.race([
      new Promise((resolve) => createInterface(daemon.child.stdout).on("line", (line) => line.startsWith("ready ") && resolve(line))),
      daemon.ended.then((code) => { throw new Error(`windhoverd ended with ${code}`); }),
    ]);
    // A test that fails leaves it behind, for the end of the process.
    daemon.child.unref();
    daemon.child.stdout.unref();
    daemon.query = / query=(\S+)/.exec(ready)[1];
    daemon.observes = / observe=(\S+)/.exec(ready)[1];
    daemon.address = / http=(\S+)/.exec(ready)[1];
    daemon.url = `http://${daemon.address}/`;
    return daemon;
  }

  async stop(signal = "SIGTERM") {
    this.child.ref(); // nothing else may keep the process until it has ended
    this.child.kill(signal);
    await this.ended;
  }

  // Starts it again on the same port after it has ended.
  again() {
    return Daemon.start(this.words, Number(this.address.split(":").at(-1)));
  }

  async ask(path, body, token) {
    const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
    const response = await fetch(this.url + path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  // `rows` of [features..., target].
  async observe(rows, { model = "", token, trials } = {}) {
    const kFrame = 400;
    for (let first = 0; first < rows.length; first += kFrame) {
      const some = rows.slice(first, first + kFrame);
      await this.ask(model === "" ? "v1/observe" : `v1/observe?model=${model}`, {
        rows: some.length, features_f64: some.flatMap((row) => row.slice(0, -1)), targets_f64: some.map((row) => row.at(-1)),
        ...(trials === undefined ? {} : { trials: some.map(() => trials) }),
      }, token);
    }
  }
}

// The same numbers in every run (mulberry32).
export function randomNumbers(seed) {
  let state = seed;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

// y = 2 x1 - x2 + noise, and as many rows as are asked for.
export function lines(count, seed = 1) {
  const { normal } = randomNumbers(seed);
  return Array.from({ length: count }, () => {
    const [a, b] = [normal(), normal()];
    return [a, b, 2 * a - b + 0.5 * normal()];
  });
}
