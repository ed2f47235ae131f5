// Asks the server that this page came from. The token stays in this tab.

const kTokenKey = "windhover-token";
const kPatienceMs = 10000;

// What the server said no to; status 0: it did not answer.
export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(kTokenKey) ?? "",
  set: (text) => sessionStorage.setItem(kTokenKey, text),
  forget: () => sessionStorage.removeItem(kTokenKey),
};

// What is thrown where `why` holds, unless it took too long.
const unanswered = (error, why) => new Refused(0, error.name === "TimeoutError" ? "no answer within 10 s" : why);

// The answer's object. Where a refusal has none the status says enough; anything else that cannot
// be read, as where its end did not arrive, is no answer.
async function objectOf(response) {
  try {
    const answer = await response.json();
    if (typeof answer === "object" && answer !== null) return answer;
    throw new TypeError("no object");
  } catch (error) {
    if (!response.ok) return {};
    throw unanswered(error, "what it sent cannot be read");
  }
}

// `model` empty: of the first, or of all. With a body it is a POST. Throws Refused.
export async function ask(path, { model = "", body = null } = {}) {
  const headers = {};
  if (token.get() !== "") headers.Authorization = `Bearer ${token.get()}`;
  if (body !== null) headers["Content-Type"] = "application/json";
  const query = model === "" ? "" : `${path.includes("?") ? "&" : "?"}model=${encodeURIComponent(model)}`;
  const response = await fetch(path + query, {
    method: body === null ? "GET" : "POST",
    headers,
    body: body === null ? undefined : JSON.stringify(body),
    cache: "no-store",
    signal: AbortSignal.timeout(kPatienceMs),
  }).catch((error) => { throw unanswered(error, "it cannot be reached"); });
  const answer = await objectOf(response);
  if (response.ok) return answer;
  const reason = answer.reason ? ` (${answer.reason.replace("REASON_", "").toLowerCase()})` : "";
  throw new Refused(response.status, (answer.error ?? `HTTP ${response.status}`) + reason);
}

const kPage = 8;
const kMostModels = 64;

// The first 64 models, and how many there are.
export async function askModels() {
  const states = [];
  for (;;) {
    const answer = await ask(`/v1/models?first=${states.length}`);
    states.push(...answer.states);
    const all = answer.states.length < kPage || states.length >= answer.models;
    if (all || states.length >= kMostModels) return { states, count: answer.models };
  }
}
