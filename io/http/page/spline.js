// Natural cubic splines, as tools/data/natural_spline.h has them: weights of the heights at the knots.

// Heights to second derivatives at the knots: by elimination in the tridiagonal system.
function curvatures(knots) {
  const n = knots.length;
  const zero = () => new Array(n).fill(0);
  const rows = [];
  const diagonal = [];
  for (let k = 1; k < n - 1; ++k) {
    const before = knots[k] - knots[k - 1];
    const after = knots[k + 1] - knots[k];
    const row = zero();
    row[k - 1] = 1 / before;
    row[k] = -1 / before - 1 / after;
    row[k + 1] = 1 / after;
    let pivot = (before + after) / 3;
    if (k > 1) {
      const factor = before / 6 / diagonal[k - 2];
      pivot -= (factor * before) / 6;
      rows[k - 2].forEach((value, i) => { row[i] -= factor * value; });
    }
    diagonal.push(pivot);
    rows.push(row);
  }
  for (let k = rows.length - 1; k >= 0; --k) {
    const after = knots[k + 2] - knots[k + 1];
    rows[k] = rows[k].map((value, i) => (value - (k + 1 < rows.length ? (after / 6) * rows[k + 1][i] : 0)) / diagonal[k]);
  }
  return [zero(), ...rows, zero()];
}

// The weights at a value, one a knot; they sum to 1. In units of the way from the first knot to the last.
export function splineWeights(places, value) {
  const span = places[places.length - 1] - places[0];
  const knots = places.map((knot) => (knot - places[0]) / span);
  const x = (value - places[0]) / span;
  const last = knots.length - 1;
  let j = knots.findIndex((knot) => knot > x);
  j = Math.min(Math.max(j < 0 ? last : j, 1), last) - 1;
  const width = knots[j + 1] - knots[j];
  const inside = Math.min(Math.max(x, knots[0]), knots[last]);
  const [down, up, beyond] = [knots[j + 1] - inside, inside - knots[j], x - inside];
  const ofFirst = (down ** 3 / width - width * down) / 6 + beyond * (width / 6 - down ** 2 / width / 2);
  const ofSecond = (up ** 3 / width - width * up) / 6 + beyond * (up ** 2 / width / 2 - width / 6);
  const bends = curvatures(knots);
  const weights = knots.map((_, k) => ofFirst * bends[j][k] + ofSecond * bends[j + 1][k]);
  weights[j] += (down - beyond) / width;
  weights[j + 1] += (up + beyond) / width;
  return weights;
}

// The knot whose weight is no column.
export const referenceKnot = (knots) => Math.floor(knots.length / 2);
