// The page's loop: asks the server once a second, and shows what it says.
import { ask, askModels, Refused } from "./api.js";
import { CalibrationView } from "./calibration.js";
import { categoryEffects } from "./categories.js";
import { CoefficientsView } from "./coefficients.js";
import { Columns } from "./columns.js";
import { accessGranted, askForToken, connection, startAccess, startHold, startTheme } from "./controls.js";
import { lookAtAll, showEvents, tell } from "./events.js";
import { byId, number, say } from "./format.js";
import { readingOf } from "./inputs.js";
import { stateOf } from "./judgement.js";
import { ModelsView } from "./models.js";
import { NumbersView, StatusView } from "./numbers.js";
import { PredictionView } from "./prediction.js";
import { extra, WhatIf } from "./whatif.js";

const kPeriodMs = 1000;
const kHiddenPeriodMs = 10000;  // while nobody looks
const kSlowPeriodMs = 5000;     // models and coefficients
const kManyParameters = 300;    // with more, coefficients come less often
const kZeros = "The row that is followed: all columns 0, as the server was given no schema. Set one under “What if”.";
const kNoHash = "The row that is followed: all columns 0, as the page cannot fill in the hashed features of the schema.";

let chosen = new URLSearchParams(location.search).get("model") ?? "";
let shown = null;      // what is made for one model of one life of the server
let available = null;  // whether the last question was answered
let slowAt = 0;
let toldState = "";    // the model, and the status that its events were last asked for at
let latestStart = Infinity;  // the server that answers had begun by then

// The views of a model, and what its questions need.
async function show(model) {
  const welcome = await ask("/v1/hello", { model });
  const schema = await ask("/v1/schema", { model }).catch((error) => {
    if (error instanceof Refused && error.status !== 0) return null;  // none, or no right to it
    throw error;
  });
  shown?.views.forEach((view) => view.destroy());
  const columns = new Columns(welcome, schema);
  const made = { model, welcome, columns, followed: columns.encode(columns.typical()), mayAsk: true };
  const question = async (rows, more = extra(columns)) => {
    const body = { ...columns.question(rows), ...more };
    return (await ask("/v1/predict", { model, body })).predictions;
  };
  made.question = question;
  made.prediction = new PredictionView(columns);
  made.whatIf = new WhatIf(columns, question, (row, values) => {
    made.followed = row;
    made.prediction.restart();
    say(byId("prediction-row"), `The row that is followed: ${describe(columns, values)}.`);
  });
  made.coefficients = new CoefficientsView(columns);
  made.calibration = new CalibrationView(columns);
  made.numbers = new NumbersView();
  made.views = [made.prediction, made.whatIf, made.coefficients, made.calibration, made.numbers];
  say(byId("prediction-title"), `What is predicted: ${columns.target}`);
  say(byId("prediction-row"), schema === null ? kZeros : columns.hashed ? kNoHash : typicalText(columns));
  return made;
}

// A field's value as text.
function textOf(field, value) {
  return typeof value === "number" ? readingOf(field).text(value) : String(value ?? "not known").replace("\u0000", "");
}

function typicalText(columns) {
  const days = columns.fields.filter((field) => field.today).map((field) => `, ${field.name} ${textOf(field, field.typical)}, which is today`);
  return `The row that is followed: numbers at their mean, of categories the first${days.join("")}.`;
}

function describe(columns, values) {
  const changed = columns.fields.filter((f) => values.get(f.name) !== columns.typical().get(f.name));
  if (changed.length === 0) return "the typical one";
  const text = (f) => `${f.name} ${textOf(f, values.get(f.name))}`;
  return changed.slice(0, 6).map(text).join(", ") + (changed.length > 6 ? `, and ${changed.length - 6} more` : "; all else typical");
}

// What needs the role query; without it the rest goes on.
async function askIfAllowed(action) {
  if (!shown.mayAsk) return;
  try {
    await action();
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 403) throw error;
    shown.mayAsk = false;
    say(byId("prediction-now"), "This token may not ask for predictions: the role query is missing.");
    say(byId("coefficients-note"), "This token may not ask for coefficients: the role query is missing.");
  }
}

// A row that the user has filled in may be none that the server takes: then the other is asked alone.
async function askBoth(row) {
  const followed = [shown.followed];
  if (shown.welcome.max_query_rows < 2) return shown.question(followed);
  try {
    return await shown.question([shown.followed, row]);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 400) throw error;
    const answers = await shown.question(followed);
    shown.whatIf.refuse(error);
    return answers;
  }
}

async function predict(now) {
  const row = shown.whatIf.row();
  const [followed, whatIf] = await askBoth(row);
  shown.prediction.update(now, followed);
  shown.prediction.draw();
  if (whatIf) shown.whatIf.update(whatIf, row);
  else if (!shown.whatIf.last) shown.whatIf.update(followed, shown.followed);
}

// Another configuration under the same name has other columns.
async function noticeReplacement() {
  const { fingerprint } = await ask("/v1/hello", { model: chosen });
  if (fingerprint === shown.welcome.fingerprint) return;
  tell(chosen, "the model was replaced");
  shown = await show(chosen);
}

async function slow() {
  const models = await askModels();
  delete document.querySelector("main").dataset.empty;  // there is something to show
  if (chosen === "") chosen = models.states[0]?.name ?? "";
  modelsView.update(models, chosen);
  lookAtAll(models.states, chosen);
  await showEvents(chosen);
  if (shown === null) return;
  if (shown.model === chosen) await noticeReplacement();
  shown.calibration.compare(models.states, chosen);
  await askIfAllowed(async () => {
    const { model, columns, coefficients, question } = shown;
    const posterior = await ask("/v1/posterior", { model });
    const means = (posterior.mean ?? []).map(number);
    const askDraws = (body) => ask("/v1/draws", { model, body });
    const effects = await categoryEffects(columns, (rows) => question(rows, { posterior_spread: true }), means, askDraws).catch((error) => {
      // Draws may be gone, or the question too large or one too many: the rest of the page goes on.
      const stops = !(error instanceof Refused) || [0, 401, 403].includes(error.status);
      if (!stops) return { effects: new Map(), draws: 0 };
      throw error;
    });
    coefficients.update(posterior, effects);
  });
}

// The server began between `asked` and `answered`, less its uptime (ms): after all that was known of
// the one before?
function startedAnew(asked, answered, uptime) {
  const anew = asked - uptime > latestStart;
  latestStart = anew ? answered - uptime : Math.min(latestStart, answered - uptime);
  return anew;
}

async function turn() {
  const now = Date.now();
  if (now - slowAt >= (shown?.welcome.dimension > kManyParameters ? 3 : 1) * kSlowPeriodMs || shown === null) {
    slowAt = now;
    await slow();
  }
  if (shown === null || shown.model !== chosen) {
    shown = await show(chosen);
    slowAt = 0;
  }
  const asked = performance.now();
  const status = await ask("/v1/status", { model: chosen });
  const answered = performance.now();
  if (startedAnew(asked, answered, number(status.uptime_ns) / 1e6)) {
    tell("", "the server was started anew");
    await noticeReplacement();
    shown.numbers.gap(now / 1000);
    slowAt = 0;
  }
  statusView.update(status);
  const told = `${chosen} ${status.provenance.state} ${status.provenance.reason}`;
  if (told !== toldState) await showEvents(chosen);
  toldState = told;
  document.title = `${stateOf(status.provenance.state).word} · ${chosen} · Windhover`;
  shown.calibration.update(status);
  shown.numbers.update(now / 1000, status, (answered - asked) * 1e6);
  shown.numbers.draw();
  await askIfAllowed(() => predict(now / 1000));
}

function succeeded() {
  if (available === false) tell("", "the server answers again");
  available = true;
  accessGranted();
  connection("good", "live");
}

function failed(error) {
  if (!(error instanceof Refused)) {
    console.error(error);
    connection("bad", `something is wrong with this page: ${error.message}`);
    return;
  }
  const now = Date.now() / 1000;
  shown?.prediction.gap(now);
  shown?.numbers.gap(now);
  if (error.status === 401 || (error.status === 403 && shown === null)) {
    askForToken(error.message);
    connection("bad", "a token is needed");
    return;
  }
  if (error.status === 404 && chosen !== "") {
    connection("bad", `there is no model ${chosen}`);
    return;
  }
  if (error.status >= 400 && error.status < 500) {
    available = true;
    slowAt = 0;  // the model may be another one by now
    connection("bad", `the server refuses: ${error.message}`);
    return;
  }
  if (available === true) tell("", `the server does not answer: ${error.message}`);
  available = false;
  connection("bad", `no answer (${error.message}); trying again`);
}

const held = startHold();
const statusView = new StatusView();
const modelsView = new ModelsView((name) => {
  chosen = name;
  history.replaceState(null, "", `?model=${encodeURIComponent(name)}`);
  again();
});

let timer = 0;
let busy = false;

async function run() {
  if (busy) return;
  busy = true;
  clearTimeout(timer);
  if (!held()) await turn().then(succeeded, failed);
  else connection("wait", "held still");
  busy = false;
  timer = setTimeout(run, document.hidden ? kHiddenPeriodMs : kPeriodMs);
}

function again() {
  slowAt = 0;
  run();
}

startTheme();
startAccess(again);
document.addEventListener("visibilitychange", () => { if (!document.hidden) run(); });
run();
