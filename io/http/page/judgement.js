// What a status and its reason mean, in words, and what to do: runtime/README.md, "Phases".
import { number, percent, short, whole } from "./format.js";

export const kStates = {
  POSTERIOR_STATE_OK: { word: "ok", sign: "✓", tone: "good", says: "Yes. The intervals mean what they say." },
  POSTERIOR_STATE_WARMING_UP: { word: "warming up", sign: "◔", tone: "wait", says: "Not yet. It has only begun to learn." },
  POSTERIOR_STATE_RECOVERING: { word: "recovering", sign: "↻", tone: "wait", says: "Not yet. It takes up what it knew before the restart." },
  POSTERIOR_STATE_DRIFTING: { word: "drifting", sign: "⤳", tone: "warn", says: "With care. The world it learns from is changing." },
  POSTERIOR_STATE_DEGRADED: { word: "degraded", sign: "!", tone: "bad", says: "With care. Something about the uncertainty is not right." },
};

export const stateOf = (name) => kStates[name] ?? { word: String(name), sign: "?", tone: "bad", says: "" };

const n = (p, field) => short(number(p[field]), 3);

// Up to here scores tell of no dependence (ScoreSeries::kHarmlessAutocorrelation).
const kHarmless = 1.2;

// reason: [why, what to do]; `p` is the Provenance of an answer.
const kReasons = {
  NONE: () => ["", ""],
  FEW_DRAWS: (p) => [
    `It stands on ${whole(number(p.n_eff))} rows and ${n(p, "ess_bulk")} independent draws, which are too few.`,
    "Nothing, if rows keep coming: it turns ok on its own. If it stays so, look whether rows arrive (At work, below) and whether the machine has time left for sampling."],
  DRIFT: (p) => [
    `The newest tenth of the window differs from the rest by more than chance allows: ${n(p, "drift_score")} standard deviations${number(p.drift_onset ?? 0) > 0 ? `, since about row ${whole(number(p.drift_onset))}` : ""}.`,
    "Find out what changed at the source. If the change is real and will stay, a shorter window (engine.window_size) or horizon = \"forgetting\" follows it faster."],
  DEPENDENT_ROWS: (p) => Number.isNaN(number(p.score_autocorrelation)) ? [
    "There are few rows yet, and they come in an order, or neighbouring ones are alike: those to come may be unlike them.",
    "Nothing, if rows keep coming: what is predicted is compared with them. If all rows are there, shuffle them, or add columns that explain what neighbouring rows share."] : number(p.score_autocorrelation) <= kHarmless ? [
    `What the model leaves of neighbouring rows is alike, though their scores vary only ${n(p, "score_autocorrelation")} times as much as they should.`,
    "Add columns that explain what neighbouring rows share: the time of day, the source. Until then the next rows may lie outside of the intervals together."] : [
    `Rows that follow one another are alike, so they tell less than independent ones: their scores vary ${n(p, "score_autocorrelation")} times as much as they should.`,
    `Read the column “sd robust”, which allows for it${p.robust_spread ? ", as predictions do" : ""}. Look for rows sent twice, or add columns that explain what neighbouring rows share.`],
  NETWORK: () => [
    "A neural network has many solutions, and nothing checks whether the draws have found their whole spread.",
    "Use its predictions, and check them by the coverage below. It will not become ok."],
  LOST_CHAINS: (p) => [
    `Chains of the sampler ran away and were started again: ${whole(number(p.divergences))} so far.`,
    "It heals by itself after a few passes. If it comes back, look for single huge values in the columns, or take sampler calibrated with its default step."],
  SAMPLERS_LAW: (p) => [
    `The sampler that was chosen does not draw from the posterior: its variance is off by a factor of ${n(p, "law_ratio")}.`,
    "Choose sampler.name = \"calibrated\", or a smaller step."],
  LAW_UNKNOWN: () => [
    "Nothing tells whether the sampler that was chosen draws from the posterior.",
    "Choose sampler.name = \"calibrated\" and noise_structure = \"full\", which can be checked."],
  SPREAD: (p) => [
    `The draws scatter ${n(p, "ou_ratio")} times as much as they should.`,
    "Wait a minute: after a burst of rows it settles. If it stays, columns may be almost copies of one another, or the step of the sampler too long."],
  REPLAY_RATIO: (p) => [
    `Rows come faster than the sampler can follow: ${n(p, "draws_per_observation")} draws a new row and chain, where 1 is the least.`,
    "Give it more time: another core (engine.learner_threads), fewer rows a second, or fewer chains."],
  NOT_DEFINITE: () => [
    "Numbers are too large to compute with; the answer is that of before they came.",
    "Look for columns or targets of enormous size, and scale them (a schema does)."],
  PRIOR: (p) => [
    `The rows contradict what the prior expects: ${n(p, "prior_conflict")} times as far as chance makes of it.`,
    "If you set a prior, widen it (model.prior_precision); 0 chooses one that fits the units of the data."],
  MISFIT: (p) => [
    `Outcomes scatter unlike the model says: misspecification index ${n(p, "misspecification_index")}, where 1 is right.`,
    "Read the column “sd robust”, which holds when the model does not. Consider another model: student-t where there are outliers."],
  REPLAY: (p) => [
    `${whole(number(p.sequence))} of ${whole(number(p.recovery_target))} rows from before the restart are in the answer again.`,
    "Wait; nothing else is needed."],
  PREDICTIVE: (p) => Math.abs(number(p.coverage_90) - 0.9) <= 0.03 ? [
    "Predictions are bolder or more timid than the outcomes bear out, or who knows no x predicts better, which is not chance.",
    "Compare the log scores below. Consider another model, or a shorter memory."] : [
    `Of the latest outcomes ${percent(number(p.coverage_90))} lay within their 90 % intervals, which is not chance.`,
    "Compare the calibration below. Too few: outliers (student-t), or a noise that changes with x. Too many: the noise is given too large."],
};

// {state, reason, why, what}, where the manual says more, and on what.
export function judge(provenance) {
  const name = String(provenance.reason ?? "").replace("POSTERIOR_REASON_", "");
  const [why, what] = (kReasons[name] ?? (() => [name.toLowerCase(), ""]))(provenance);
  const known = name in kReasons && name !== "NONE";
  return {
    state: stateOf(provenance.state), reason: name.toLowerCase(), why, what,
    page: `/docs/status.html#${known ? name.toLowerCase() : "what-ok-does-not-see"}`,
    topic: known ? name.toLowerCase().replaceAll("_", " ") : "what the status does not see",
  };
}

// What is to be said of an R-hat beside the most that chance makes of it.
export function agreement(rhat, chance) {
  if (!(rhat > 0)) return "chains have not been compared";
  if (chance === Infinity) return "too few draws to compare chains";
  if (!(chance > 0)) return "";
  return rhat <= chance ? `chains agree: chance makes up to ${short(chance)}` : `above ${short(chance)}, the most that chance makes`;
}

const kRestSeconds = 2;

const stepsOf = (status) => number((status.runtime_counters ?? []).find((c) => c.label === "steps")?.value ?? NaN);

// What the learner does, by statuses of the last seconds, [{now, status}] from the oldest on:
// [a word, a sentence].
export function learning(seen) {
  const [first, last] = [seen[0], seen.at(-1)];
  if (!last || Number.isNaN(stepsOf(last.status)) || last.now - first.now < kRestSeconds) return ["–", "a moment, please"];
  if (stepsOf(last.status) > stepsOf(first.status)) return ["at work", ""];
  const { head, provenance } = last.status;
  return number(head) > number(provenance.sequence)
    ? ["stands still", "though rows wait: is the model paused?"]
    : ["rests", "each row has been looked at often enough; the next one wakes it"];
}

// Why there is no score, of so many rows that have come.
export const noneScored = (offered) => (offered > 0
  ? `No prediction has been scored yet: none of the ${whole(offered)} rows that came found an answer to be predicted by before it was learned from. Rows are, as soon as there is an answer.`
  : "No predictions have been scored yet.");

// Why senders wait for the disk, and what to do about it; answers may be good all the while.
export function waitingText(durable) {
  const log = durable?.log_status ?? "REASON_OK";
  const plain = (reason) => reason.replace("REASON_", "").toLowerCase();
  if (log === "REASON_OK") return "";
  if (log !== "REASON_LOG_FULL") return `Senders wait: the log cannot be written (${plain(log)}). Mend the disk or the data folder; it is tried again all the time.`;
  const failed = durable.checkpoint_status ?? "REASON_OK";
  if (failed === "REASON_OK") return "Senders wait: the log is full until the next checkpoint lets old rows go.";
  return `Senders wait: the log is full until a checkpoint lets old rows go, and checkpoints fail (${plain(failed)}). Mend the data folder; they are tried again each second.`;
}
