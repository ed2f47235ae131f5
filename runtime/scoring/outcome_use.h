#ifndef WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_
#define WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_

#include <algorithm>
#include <array>
#include <cstddef>
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
// in none. Posteriors of the same rows are one. One thread.
class JudgedRows {
 public:
  // How many rows may judge a posterior that stands on so many (Provenance::n_eff).
  static std::uint64_t most(std::uint64_t n_eff) noexcept {
    return std::max<std::uint64_t>(1, n_eff / 4);
  }
  // How many still may: of the posterior that has seen `n_seen` rows, which `most` may judge.
  std::uint64_t left(std::uint64_t n_seen, std::uint64_t most) const noexcept {
    const Judged& judged = judged_[place_of(n_seen)];
    const std::uint64_t rows = judged.n_seen == n_seen ? judged.rows : 0;
    return most - std::min(most, rows);
  }
  void add(std::uint64_t n_seen) noexcept {
    Judged& judged = judged_[place_of(n_seen)];
    if (judged.n_seen != n_seen) judged = {n_seen, 0};
    ++judged.rows;
  }

 private:
  // Of those that have answered lately. Outcomes that are late come in turns from several of these.
  struct Judged {
    std::uint64_t n_seen = 0;
    std::uint64_t rows = 0;
  };
  static std::size_t place_of(std::uint64_t n_seen) noexcept {
    return (n_seen * 0x9e3779b97f4a7c15U) >> 60U;
  }

  std::array<Judged, 16> judged_{};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_OUTCOME_USE_H_
