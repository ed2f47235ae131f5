#ifndef WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_
#define WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_

#include <algorithm>
#include <cstdint>

namespace windhover {

// What the outcome of a row that has been predicted goes into; each into what those before it do.
enum class OutcomeUse : std::uint8_t {
  kNothing,    // there were no units of y yet: the answer says nothing
  kScores,     // the posterior was warming up, which promises nothing
  kConformal,  // enough rows that this posterior predicted have judged it already
  kCheck,
};

// Counts the rows that judge one posterior. All that it predicts share what it does not know of the
// parameters, and rows do not average that out: of 12 parameters that 100 rows say little of, an
// alarm that takes each of 2,900 more for evidence of its own went off in 59 of 60 streams, though
// the model was right. A quarter of the rows that a posterior stands on cannot tell what is left:
// in none. Where rows lie beyond those that it has seen that is too many: a row of whose predicted
// variance a share s is of the parameters lets the log odds of a wrong alternative grow by about
// s^2 / 4 where these are as expected, by ten times as much where they are two sd off. So the
// squares of the shares add up to kMostShared at most. Posteriors of the same rows are one. One
// thread, or under a lock.
class JudgedRows {
 public:
  // How many rows may still judge the posterior that has seen `n_seen` rows and stands on `n_eff`,
  // as in its Provenance. None, where a newer one has been judged.
  std::uint64_t left(std::uint64_t n_seen, std::uint64_t n_eff) const noexcept {
    if (n_seen < n_seen_) return 0;
    const std::uint64_t most = std::max<std::uint64_t>(1, n_eff / 4);
    return n_seen == n_seen_ ? most - std::min(most, rows_) : most;
  }
  // One of them does, unless too much has been shared before it. The first one always does.
  // REQUIRES: left() > 0; `shared`: the parameters' share of its predicted variance.
  bool add(std::uint64_t n_seen, double shared) noexcept {
    if (n_seen != n_seen_) {
      n_seen_ = n_seen;
      rows_ = 0;
      shared_ = 0;
    }
    if (rows_ > 0 && shared_ + shared * shared > kMostShared) return false;
    ++rows_;
    shared_ += shared * shared;
    return true;
  }

 private:
  static constexpr double kMostShared = 4;

  std::uint64_t n_seen_ = 0;
  std::uint64_t rows_ = 0;
  double shared_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_
