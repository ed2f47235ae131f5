// From quantiles of a prediction to its density.

// The most that a server takes in one question is 16.
export const kProbabilities = [0.005, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.995];

// Where a standard normal has this probability below it (Acklam's approximation, within 1e-9).
export function normalQuantile(p) {
  const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239];
  const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572];
  const c = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783];
  const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
  const poly = (coefficients, x) => coefficients.reduce((sum, k) => sum * x + k, 0);
  if (p > 0.5) return -normalQuantile(1 - p);
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p));
    return poly(c, q) / poly([...d, 1], q);
  }
  const q = p - 0.5;
  return (poly(a, q * q) * q) / poly([...b, 1], q * q);
}

const kScores = kProbabilities.map(normalQuantile);

// Slopes of a monotone cubic through (x, z), after Fritsch and Carlson (1980).
function slopes(x, z) {
  const last = x.length - 1;
  const steps = Array.from({ length: last }, (_, i) => (z[i + 1] - z[i]) / (x[i + 1] - x[i]));
  return x.map((_, i) => {
    if (i === 0) return steps[0];
    if (i === last) return steps[last - 1];
    const [before, after] = [steps[i - 1], steps[i]];
    const [w, v] = [x[i] - x[i - 1], x[i + 1] - x[i]];
    return (w + v) / ((w + 2 * v) / 3 / before + (2 * w + v) / 3 / after);  // their harmonic mean
  });
}

// {x, density}: the normal scores of the quantiles are interpolated, so that a normal prediction is
// drawn as exactly that. null: there are too few different ones.
export function densityOf(quantiles, { lowest = -Infinity, highest = Infinity } = {}) {
  const points = [];
  quantiles.forEach((x, i) => {
    const score = kScores[i];
    if (points.length > 0 && !(x > points.at(-1).x)) points.at(-1).score = score;
    else points.push({ x, score });
  });
  if (points.length < 3 || !points.every((p) => Number.isFinite(p.x))) return null;
  const x = points.map((p) => p.x);
  const z = points.map((p) => p.score);
  const m = slopes(x, z);
  const reach = (x.at(-1) - x[0]) * 0.15;
  const [from, to] = [Math.max(lowest, x[0] - reach), Math.min(highest, x.at(-1) + reach)];
  const result = { x: [], density: [] };
  const kSteps = 160;
  for (let s = 0, i = 0; s <= kSteps; ++s) {
    const at = from + ((to - from) * s) / kSteps;
    while (i < x.length - 2 && at > x[i + 1]) ++i;
    const [score, slope] = cubic(x, z, m, i, at);
    result.x.push(at);
    result.density.push((slope * Math.exp((-score * score) / 2)) / Math.sqrt(2 * Math.PI));
  }
  return result;
}

// Value and slope at `at` of the piece that begins at x[i]; a straight line outside of all.
function cubic(x, z, m, i, at) {
  if (at <= x[0]) return [z[0] + m[0] * (at - x[0]), m[0]];
  const end = x.length - 1;
  if (at >= x[end]) return [z[end] + m[end] * (at - x[end]), m[end]];
  const width = x[i + 1] - x[i];
  const t = (at - x[i]) / width;
  const [a, b, c, d] = [z[i], m[i] * width, z[i + 1], m[i + 1] * width];
  const value = a * (2 * t ** 3 - 3 * t ** 2 + 1) + b * (t ** 3 - 2 * t ** 2 + t) + c * (3 * t ** 2 - 2 * t ** 3) + d * (t ** 3 - t ** 2);
  const slope = a * (6 * t * t - 6 * t) + b * (3 * t * t - 4 * t + 1) + c * (6 * t - 6 * t * t) + d * (3 * t * t - 2 * t);
  return [value, Math.max(0, slope / width)];
}

// Edges of the bars of counts: at most `most` whole numbers, equally far apart, around the counts
// that have more than 0.5 % on either side. The probability of more than each of them gives the
// bars.
export function countEdges(quantiles, most) {
  const [low, high] = [quantiles[0] - 1, quantiles.at(-1)];
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
  const width = Math.ceil((high - low) / (most - 1));
  return Array.from({ length: Math.ceil((high - low) / width) + 1 }, (_, i) => low + i * width);
}

// {x, share}: the middle of the counts between two edges, and the probability of each such count.
// `above`: the probability of more, an edge each.
export function countBars(edges, above) {
  const width = edges[1] - edges[0];
  return {
    x: edges.slice(1).map((edge) => edge - (width - 1) / 2),
    share: edges.slice(1).map((_, i) => Math.max(0, above[i] - above[i + 1]) / width),
  };
}
