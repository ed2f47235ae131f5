// What a field's categories do beside one another, as tools/client/category_effects.cc says: where
// every row has one of them only their differences are known.
import { number } from "./format.js";

const kMostParameters = 300;  // with more, no effects are shown
const kBesideRows = 1024;     // bytes of a question
const kNumberBytes = 24;  // length of a number as text

const listedOf = (field) => field.categories.length;
const valuesOf = (field) => field.columns.length - (field.missing === "column" ? 1 : 0);

// The fields that an interaction multiplies, where all are of categories alone; otherwise none.
function factorsOf(columns, interaction) {
  const factors = interaction.fields.map((name) =>
    columns.placed.filter((field) => field.name === name && field.kind !== "interaction" && field.first < interaction.first));
  const plain = factors.every((all) => all.length === 1 && all[0].kind === "category" && listedOf(all[0]) > 0);
  return plain ? factors.map(([field]) => field) : [];
}

// [[column, share], ...]: the products that rows with the own-th category of a field have, of an
// average of the others' categories.
function productsOf(columns, own, place) {
  if (place >= valuesOf(own)) return [];
  return columns.placed.filter((field) => field.kind === "interaction").flatMap((interaction) => {
    const factors = factorsOf(columns, interaction);
    if (!factors.includes(own)) return [];
    let products = [[0, 1]];
    for (const field of factors) {
      const values = field === own ? [[place, 1]] : field.categories.map((_, i) => [i, 1 / listedOf(field)]);
      products = products.flatMap(([at, share]) => values.map(([i, value]) => [at * valuesOf(field) + i, share * value]));
    }
    return products.map(([at, share]) => [interaction.first + at, share]);
  });
}

// {first, listed, count, rows}: the columns of the fields with several categories, those listed first;
// and of each what a row of it has, [[column, share], ...].
const groupsOf = (columns) =>
  columns.placed
    .filter((field) => field.kind === "category" && field.columns.length > 1)
    .map((field) => ({
      first: field.first, listed: listedOf(field), count: field.columns.length,
      rows: field.columns.map((_, i) => [[field.first + i, 1], ...productsOf(columns, field, i)]),
    }));

// The categories that are shown: a single listed one is the average itself, above which the others
// are.
const told = (group) => Array.from({ length: group.count }, (_, i) => i).slice(group.listed === 1 ? 1 : 0);

const weight = (group, i) => (i < group.listed ? 1 / group.listed : 0);

const addTo = (row, times, shares) => shares.forEach(([column, share]) => row.set(column, (row.get(column) ?? 0) + times * share));

// What a category is above the average of its field's listed ones, of columns.
function contrastOf(group, own) {
  const contrast = new Map();
  addTo(contrast, 1, group.rows[own]);
  group.rows.forEach((row, i) => weight(group, i) !== 0 && addTo(contrast, -weight(group, i), row));
  return [...contrast];
}

// The average category of each group, and for each category that row with more of it, and with less.
function rowsOf(groups) {
  const average = new Map();
  for (const group of groups) group.rows.forEach((row, i) => addTo(average, weight(group, i), row));
  const rows = [average];
  for (const group of groups) {
    for (const own of told(group)) {
      for (const sign of [1, -1]) {
        const row = new Map(average);
        addTo(row, sign, contrastOf(group, own));
        rows.push(row);
      }
    }
  }
  return rows;
}

// The variance along the contrast is the second difference of that of the linear predictor.
function exactEffects(groups, [average, ...answers]) {
  const variance = (answer) => number(answer.linpred_sd) ** 2;
  const effects = new Map();
  let next = 0;
  for (const group of groups) {
    for (const i of told(group)) {
      const [more, less] = [answers[next], answers[next + 1]];
      effects.set(group.first + i, {
        mean: (number(more.linpred_mean) - number(less.linpred_mean)) / 2,
        sd: Math.sqrt(Math.max(0, (variance(more) + variance(less)) / 2 - variance(average))),
      });
      next += 2;
    }
  }
  return effects;
}

// The effects of the categories on each class, from draws [[theta, ...], ...] and the means.
function drawnEffects(groups, stride, means, draws) {
  const effects = new Map();
  for (let block = 0; block < means.length; block += stride) {
    for (const group of groups) {
      for (const own of told(group)) {
        const contrast = contrastOf(group, own);
        const above = (theta) => contrast.reduce((sum, [column, share]) => sum + share * theta[block + column], 0);
        const values = draws.map(above);
        const middle = values.reduce((a, b) => a + b, 0) / values.length;
        const squares = values.reduce((sum, v) => sum + (v - middle) ** 2, 0);
        effects.set(block + group.first + own, { mean: above(means), sd: Math.sqrt(squares / (values.length - 1)) });
      }
    }
  }
  return effects;
}

// All retained draws, of one snapshot. ask(body) -> a page of them.
async function drawsOf(ask) {
  const draws = [];
  let body = {};
  for (;;) {
    const page = await ask(body);
    const theta = page.theta.map(number);
    for (let at = 0; at < theta.length; at += page.dimension) draws.push(theta.slice(at, at + page.dimension));
    if (theta.length === 0 || draws.length >= page.provenance.draws) return draws;
    body = { snapshot_id: page.provenance.snapshot_id, first: draws.length };
  }
}

// {effects, draws}: by the place of the parameter {mean, sd} above the average of the field's listed
// categories; of how many draws sd is, 0: it is exact. ask(rows) -> predictions; means: of all
// parameters; askDraws(body) -> a page of draws.
export async function categoryEffects(columns, ask, means, askDraws) {
  const groups = groupsOf(columns);
  if (groups.length === 0 || columns.network || means.length > kMostParameters) return { effects: new Map(), draws: 0 };
  const { features, max_nonzeros: nonzeros, max_query_rows: most, frame_cap: cap } = columns.welcome;
  const rows = rowsOf(groups);
  const fits = rows.length <= most && kNumberBytes * rows.length * features + kBesideRows <= cap;
  if (columns.stride === means.length && !(nonzeros > 0) && fits) {
    return { effects: exactEffects(groups, await ask(rows)), draws: 0 };
  }
  const draws = await drawsOf(askDraws);
  return { effects: drawnEffects(groups, columns.stride, means, draws), draws: draws.length };
}
