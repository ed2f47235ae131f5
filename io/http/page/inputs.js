// What a person fills in: one value a field, of which a schema may make several features, as a date
// is a number and has waves. And how that value is written.

const kDayMs = 86400000;
const kMinutes = 1440;  // in a day
const kReach = 3;       // scales from its mean that a slider goes

const two = (n) => String(n).padStart(2, "0");
const clocked = (hours) => Math.min(Math.max(Math.round(hours * 60), 0), kMinutes - 1);
const written = (days) => new Date(Math.round(days * kMinutes) * 60000).toISOString();
const read = (text) => (text === "" ? null : Date.parse(text) / kDayMs);

// How an input reads a number: its type, the step of its slider (none: a share of the way), the
// value that its text can say, and the functions to text and back; "" is no value.
const kReadings = {
  date: {
    type: "date", step: 1, round: Math.round,
    text: (days) => written(Math.round(days)).slice(0, 10),
    value: read,
  },
  moment: {
    type: "datetime-local", step: 1 / 24, round: (days) => Math.round(days * kMinutes) / kMinutes,
    text: (days) => written(days).slice(0, 16),
    value: (text) => read(text && `${text}Z`),
  },
  time: {
    type: "time", step: 1 / 4, round: (hours) => clocked(hours) / 60,
    text: (hours) => `${two(Math.floor(clocked(hours) / 60))}:${two(clocked(hours) % 60)}`,
    value: (text) => (text === "" ? null : Number(text.slice(0, 2)) + Number(text.slice(3, 5)) / 60),
  },
  boolean: { round: (value) => Number(value >= 0.5), text: (value) => (value === 1 ? "yes" : "no") },
  number: {
    type: "number", round: (value) => value, text: String,
    value: (text) => (text === "" ? null : Number(text)),
  },
};

export const readingOf = (field) => kReadings[field.reads] ?? kReadings.number;

// The day that the user's calendar says.
function today() {
  const now = new Date();
  return Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / kDayMs;
}

// Days are told with their time where a wave tells the times of a day apart.
function readsOf(features) {
  const { reads } = features[0];
  const timed = features.some((feature) => feature.kind === "harmonic" && feature.period <= 1);
  return reads === "date" && timed ? "moment" : reads;
}

// The ends of a field's slider: what the schema knows of the field, or one round of its waves.
function limitsOf(features, start) {
  const ends = features.flatMap(({ kind, shift, scale, knots }) => {
    if (kind === "number") return [shift - kReach * scale, shift + kReach * scale];
    return kind === "spline" ? [knots[0], knots.at(-1)] : [];
  });
  if (ends.length > 0) return [Math.min(...ends), Math.max(...ends)];
  return [start, start + Math.max(...features.map((feature) => feature.period))];
}

function numberOf(name, features, optional) {
  const input = { name, kind: "number", reads: readsOf(features), optional };
  const reading = readingOf(input);
  const middle = features.find((feature) => feature.shift !== undefined)?.shift;
  // Waves alone say of no day that it is one of those that were learned from.
  input.today = middle === undefined && features[0].reads === "date";
  input.typical = reading.round(middle ?? (input.today ? today() : 0));
  [input.low, input.high] = limitsOf(features, input.today ? input.typical : 0).map(reading.round);
  input.step = reading.step ?? (input.high - input.low) / 200;
  return input;
}

// `features` as Columns places them, without interactions. A field that is a number and a category
// too is asked for as a number. `other`: of a category that is not listed.
export function inputsOf(features, other) {
  const byName = new Map();
  for (const feature of features) {
    if (byName.has(feature.name)) byName.get(feature.name).push(feature);
    else byName.set(feature.name, [feature]);
  }
  return [...byName].map(([name, own]) => {
    const optional = own.every((feature) => feature.optional);
    const numbers = own.filter((feature) => feature.kind !== "category");
    if (numbers.length > 0) return numberOf(name, numbers, optional);
    const categories = [...new Set(own.flatMap((feature) => feature.categories))];
    const refuses = own.some((feature) => feature.other === "refuse");
    return { name, kind: "category", optional, categories, refuses, typical: categories[0] ?? other };
  });
}
