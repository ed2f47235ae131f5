// The histogram of where outcomes fell in their predictions (probability integral transform), and
// what its shape means.
import { percent } from "./format.js";

// {centres, times, folded}: the middle of each bin, and how many times as many outcomes it holds as
// it would if predictions were honest. With several classes only the upper half is used. Null:
// there is none.
export function pitBins(shares, folded) {
  if (shares.length === 0 || !shares.every(Number.isFinite)) return null;
  const first = folded ? shares.length / 2 : 0;
  const used = shares.slice(first);
  return {
    centres: used.map((_, i) => (first + i + 0.5) / shares.length),
    times: used.map((share) => share * used.length),
    folded,
  };
}

const kBeyond = 2;

// How many standard deviations of a share of so many independent rows it is off.
const deviations = (share, honest, rows) => Math.abs(share - honest) / Math.sqrt((honest * (1 - honest)) / rows);

// What stands out most, in a sentence.
export function judgePit({ times, folded }, rows) {
  const shares = times.map((t) => t / times.length);
  const outer = folded ? shares.at(-1) : shares[0] + shares.at(-1);
  const honest = (folded ? 1 : 2) / shares.length;
  const above = shares.slice(shares.length / 2).reduce((sum, share) => sum + share, 0);
  const spread = deviations(outer, honest, rows);
  const side = folded ? 0 : deviations(above, 0.5, rows);
  if (Math.max(spread, side) <= kBeyond) return "Flat but for chance: outcomes fall everywhere as often as they should.";
  if (side > spread) {
    const low = above > 0.5;
    return `${percent(low ? above : 1 - above)} of the outcomes lay ${low ? "above" : "below"} the middle of their predictions, which are too ${low ? "low" : "high"}.`;
  }
  return `${percent(outer)} of the outcomes lay in the outermost ${percent(honest, 0)} of their predictions: ${outer > honest ? "more" : "fewer"} than honest ones would have there.`;
}
