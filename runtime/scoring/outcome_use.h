#ifndef WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_
#define WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_

#include <algorithm>
#include <cstdint>

namespace windhover {

// What the outcome of a predicted row is used for; each value includes the uses of those before it.
enum class OutcomeUse : std::uint8_t {
  kNothing,    // there were no units of y yet: the answer says nothing
  kScores,     // the posterior was warming up, which promises nothing
  kConformal,  // enough rows that this posterior predicted have judged it already
  kCheck,
};

// Counts the rows that judge one posterior, each given those before it. They share what is not
// known of the noise; with several classes, networks, a diagonal structure and late labels, where
// an outcome says nothing of the next, they share what is not known of the parameters too: of 12
// that 100 rows say little of, an alarm that took each of 2,900 more for evidence of its own went
// off in 59 of 60 streams, though the model was right. A quarter of the rows that a posterior
// stands on cannot tell what is left: in none. Posteriors of the same rows are one. One thread, or
// under a lock.
class JudgedRows {
 public:
  // How many rows may still judge the posterior that has seen `n_seen` rows and stands on `n_eff`,
  // as in its Provenance. None, where a newer one has been judged.
  std::uint64_t left(std::uint64_t n_seen, std::uint64_t n_eff) const noexcept {
    if (n_seen < n_seen_) return 0;
    const std::uint64_t most = std::max<std::uint64_t>(1, n_eff / 4);
    return n_seen == n_seen_ ? most - std::min(most, rows_) : most;
  }
  // Counts a row that judges it, and returns how many have. REQUIRES: left() > 0.
  std::uint64_t add(std::uint64_t n_seen) noexcept {
    rows_ = n_seen == n_seen_ ? rows_ + 1 : 1;
    n_seen_ = n_seen;
    return rows_;
  }

 private:
  std::uint64_t n_seen_ = 0;
  std::uint64_t rows_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_
