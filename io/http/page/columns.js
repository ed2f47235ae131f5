// What the columns of a row are, and how the fields of a question become them: as
// tools/data/schema.cc does it. Without a schema each column is a field of its own.

import { inputsOf } from "./inputs.js";
import { referenceKnot, splineWeights } from "./spline.js";

const range = (count, make) => Array.from({ length: count }, (_, i) => make(i));

// Answers tell no more parameters one by one.
const kMostDescribed = 65537;
// Trials that questions of a binomial model are about.
const kTrials = 100;

const countOf = (feature) =>
  feature.kind === "hash" ? feature.buckets + (feature.missing === "column" ? 1 : 0) : feature.columns.length;

function nameOf(feature, i) {
  if (feature.kind !== "hash") return feature.columns[i];
  return `hash(${feature.field}) ${i < feature.buckets ? i : "missing"}`;
}

const kInteraction = "interaction";

// The features, interactions among them: {name, kind, first, ...}, by the place of their first column.
function featuresOf(welcome, schema) {
  if (schema === null) {
    return range(welcome.features, (i) => ({
      name: `x${i + 1}`, kind: "number", reads: "number", first: i, shift: 0, scale: 1, columns: [`x${i + 1}`],
    }));
  }
  let first = 0;
  return schema.features.map((feature) => {
    const field = { ...feature, name: feature.field, first, optional: feature.missing !== "row" };
    if (field.kind === "spline") field.shift = field.knots[referenceKnot(field.knots)];
    first += countOf(feature);
    return field;
  });
}

const valueCount = (field) => field.columns.length - (field.missing === "column" ? 1 : 0);

// Products of what the row has in the columns of the fields before it; the last field's run fastest.
function encodeInteraction(interaction, fields, out) {
  let products = [[0, 1]];
  for (const name of interaction.fields) {
    const factor = fields.filter((field) => field.name === name && field.kind !== kInteraction && field.first < interaction.first);
    const places = factor.flatMap((field) => range(valueCount(field), (i) => field.first + i));
    const values = places.map((place, i) => [i, out.get(place) ?? 0]).filter(([, value]) => value !== 0);
    products = products.flatMap(([at, product]) => values.map(([i, value]) => [at * places.length + i, product * value]));
  }
  for (const [at, product] of products) out.set(interaction.first + at, product);
}

// Values of a number, a curve or a wave, or null where there is none.
function encodeNumber(field, value, out) {
  const marker = field.first + field.columns.length - 1;
  if (value === null) {
    if (field.missing === "column") out.set(marker, 1);
    return;  // a number that is missing counts as `shift`, which is 0 when scaled
  }
  if (field.kind === "number") {
    out.set(field.first, (value - field.shift) / field.scale);
    return;
  }
  if (field.kind === "spline") {
    const weights = splineWeights(field.knots, value);
    weights.splice(referenceKnot(field.knots), 1);
    weights.forEach((weight, i) => out.set(field.first + i, weight));
    return;
  }
  const waves = Math.floor(field.columns.length / 2);
  for (let k = 1; k <= waves; ++k) {
    const angle = (2 * Math.PI * k * value) / field.period;
    out.set(field.first + 2 * k - 2, Math.sin(angle));
    out.set(field.first + 2 * k - 1, Math.cos(angle));
  }
}

export const kOther = "\u0000other";
export const kMissing = "\u0000missing";

function encodeCategory(field, value, out) {
  const listed = field.categories.length;
  if (value === kMissing || value === null) {
    if (field.missing === "column") out.set(field.first + field.columns.length - 1, 1);
  } else if (value === kOther) {
    if (field.other === "column") out.set(field.first + listed, 1);
  } else {
    // A number stands for the category whose text is that number.
    const place = field.categories.findIndex((text) => (typeof value === "number" ? Number(text) : text) === value);
    if (place >= 0) out.set(field.first + place, 1);
    else if (typeof value === "number" && field.other === "column") out.set(field.first + listed, 1);
  }
}

export class Columns {
  // `welcome` of /v1/hello, `schema` of /v1/schema or null.
  constructor(welcome, schema) {
    this.welcome = welcome;
    this.schema = schema;
    this.classes = welcome.classes ?? 0;
    // The page has no such hash, and a row without it would be a wrong one: there is no question by
    // fields then.
    this.hashed = schema?.features.some((feature) => feature.kind === "hash") ?? false;
    this.placed = featuresOf(welcome, schema);
    this.fields = this.hashed ? [] : inputsOf(this.placed.filter((field) => field.kind !== kInteraction), kOther);
    // Questions of the page give no exposure: it is 1. They are about so many trials.
    const trials = welcome.takes_trials ? ` (${schema?.trials ?? "trials"} = ${kTrials})` : "";
    const unit = schema?.exposure ? ` (${schema.exposure} = 1)` : trials;
    this.target = (schema?.target_description ?? "y") + unit;
    const names = schema?.classes ?? [];
    this.classNames = range(this.classes, (i) => names[i] ?? `class ${i}`);
    this.positive = names[1] ?? "1";
    this.parameters = this.#parameters();
  }

  // Values of the fields by name -> the row as Predict wants it.
  encode(values) {
    const out = new Map();
    for (const field of this.hashed ? [] : this.placed) {
      const value = values.get(field.name);
      if (field.kind === kInteraction) encodeInteraction(field, this.placed, out);
      else if (field.kind === "category") encodeCategory(field, value, out);
      else encodeNumber(field, value ?? null, out);
    }
    return out;
  }

  // Numbers at their mean, curves at their middle knot, of categories the first, days of which there
  // are only waves today.
  typical() {
    return new Map(this.fields.map((field) => [field.name, field.typical]));
  }

  // Rows (of encode()) -> the body of a Predict.
  question(rows) {
    const body = { rows: rows.length, features_f64: [] };
    if (this.welcome.takes_trials) body.trials = rows.map(() => kTrials);
    if (this.welcome.max_nonzeros > 0) {
      body.indices = [];
      body.row_ends = [];
      for (const row of rows) {
        const places = [...row.keys()].filter((place) => row.get(place) !== 0).sort((a, b) => a - b);
        for (const place of places) {
          body.indices.push(place);
          body.features_f64.push(row.get(place));
        }
        body.row_ends.push(body.indices.length);
      }
      return body;
    }
    for (const row of rows) {
      for (let i = 0; i < this.welcome.features; ++i) body.features_f64.push(row.get(i) ?? 0);
    }
    return body;
  }

  // One entry a parameter: its name, and by what to divide it for a unit of the field.
  #parameters() {
    const { features, dimension } = this.welcome;
    if (dimension > kMostDescribed) return [];
    const variances = this.welcome.model === "MODEL_KIND_HETEROSCEDASTIC";
    const outputs = variances ? 2 : Math.max(this.classes, 2) - 1;
    const columns = this.placed.flatMap((field) =>
      range(countOf(field), (i) => ({
        name: nameOf(field, i), scale: field.kind === "number" && i === 0 ? field.scale : 1, unit: field.kind === "number" && i === 0,
      })));
    if (dimension > outputs * features) columns.push({ name: "intercept", scale: 1, intercept: true });
    // A server from before Welcome.network tells one by the number of its parameters alone.
    this.network = (this.welcome.network ?? false) || outputs * columns.length !== dimension;
    if (this.network) {
      return range(dimension, (i) => ({ name: `theta${i}`, scale: 1 }));
    }
    this.stride = columns.length;  // parameters of each class
    if (outputs === 1) return columns;
    if (variances) {
      return [...columns.map((column) => ({ ...column, name: `log variance: ${column.name}` })), ...columns];
    }
    return range(outputs, (c) => columns.map((column) => ({
      ...column, name: `${this.classNames[c + 1]}: ${column.name}`,
    }))).flat();
  }
}
