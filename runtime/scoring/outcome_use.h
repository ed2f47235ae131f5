#ifndef WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_
#define WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_

#include <cstdint>

namespace windhover {

// What the outcome of a row that has been predicted goes into; each into what those before it do.
enum class OutcomeUse : std::uint8_t {
  kNothing,    // there were no units of y yet: the answer says nothing
  kScores,     // the posterior was warming up, which promises nothing
  kConformal,  // enough rows have been predicted by this posterior already
  kCheck,
};

// Counts the rows that one posterior predicts. All of them share what it does not know of the
// parameters, and rows do not average that out: of 12 parameters that 100 rows say little of, an
// alarm that takes each of 2,900 more for evidence of its own went off in all of 60 streams, though
// the model was right. A quarter of the rows that it stands on cannot tell what is left: none did.
// Posteriors of the same rows are one. One thread, or under a lock.
class JudgedRows {
 public:
  // Whether the next row says something of its own about the posterior, where it has seen and
  // stands on so many rows, as in its Provenance.
  bool next(std::uint64_t n_seen, std::uint64_t n_eff) noexcept {
    if (n_seen != n_seen_) {
      n_seen_ = n_seen;
      rows_ = 0;
    }
    return ++rows_ <= n_eff / 4;
  }

 private:
  std::uint64_t n_seen_ = 0;
  std::uint64_t rows_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_
