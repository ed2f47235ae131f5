// What was answered about rows whose outcome comes later.
#ifndef WINDHOVER_RUNTIME_SCORING_KEPT_ANSWERS_H_
#define WINDHOVER_RUNTIME_SCORING_KEPT_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/scoring/conformal.h"
#include "windhover/runtime/scoring/outcome_use.h"

namespace windhover {

// The answer to one row, as far as a score needs it.
struct GivenAnswer {
  std::span<const double> numbers;  // Predictor::given()
  Conformal::Bounds served{};       // conformal intervals; only those of kScoredIntervals are kept
  OutcomeUse use = OutcomeUse::kCheck;
  // Both are of the posterior's Provenance; write() reads them and does not keep n_eff.
  std::uint64_t n_seen = 0;
  std::uint64_t n_eff = 0;
};

// Keeps one answer, or none, for each place of a table. Which outcomes are for the check of
// calibration (JudgedRows) is decided when a row is asked about, because those that come first may
// be of one kind. A row that is asked about again keeps what was decided, as long as the posterior
// is of the same rows.
//
// Invariant: no more answers are for the check than the posterior that gave them may be judged by.
//
// Threads: write() from one, or under a lock; read() from another one, of places that are not
// written at that time. Memory of a place: 8 bytes, and the numbers and 8 more.
class KeptAnswers {
 public:
  // Each answer has so many `numbers`; 0: nothing is scored, and no answer kept. Takes memory,
  // writes nothing.
  KeptAnswers(Arena& arena, std::uint32_t places, std::size_t numbers) noexcept;
  void reset() noexcept { judged_ = {}; }

  // Writes an answer; null: there is none. `again`: the place holds the answer given to the same
  // key before.
  void write(std::uint32_t place, const GivenAnswer* answer, bool again) noexcept;
  // REQUIRES: the place has been written.
  bool has(std::uint32_t place) const noexcept { return numbers_ > 0 && kinds_[place].answered; }
  // Valid as long as the place is not written. REQUIRES: has(place).
  GivenAnswer read(std::uint32_t place) const noexcept;

  // ---- For checkpoints. How many bytes an answer takes; save() writes them, restore() reads them.
  std::size_t saved_bytes() const noexcept {
    return numbers_ == 0 ? 0 : sizeof(Kind) + stride() * sizeof(double);
  }
  // REQUIRES: has(place).
  void save(std::uint32_t place, std::byte* out) const noexcept;
  // Empty: the place has no answer. REQUIRES otherwise: saved_bytes() of them.
  void restore(std::uint32_t place, std::span<const std::byte> bytes) noexcept;
  JudgedRows& judged() noexcept { return judged_; }

 private:
  struct Kind {
    std::uint32_t n_seen;  // the lower half
    OutcomeUse use;
    bool answered;
  };
  static_assert(sizeof(Kind) == 8);

  std::size_t stride() const noexcept;
  void decide(const GivenAnswer& answer, bool had_one, Kind& kind) noexcept;

  std::size_t numbers_;
  std::span<Kind> kinds_;
  std::span<double> answers_;  // places x stride: the numbers, then the conformal intervals
  JudgedRows judged_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_KEPT_ANSWERS_H_
