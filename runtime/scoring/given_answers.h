#ifndef WINDHOVER_RUNTIME_SCORING_GIVEN_ANSWERS_H_
#define WINDHOVER_RUNTIME_SCORING_GIVEN_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "windhover/platform/arena.h"
#include "windhover/runtime/scoring/kept_answers.h"
#include "windhover/runtime/scoring/score_queue.h"

namespace windhover {

// The answers that were given to rows before their outcome came, and the rows of the stream that
// are scored by them. PendingLabels writes both; from queue.push() until scored() it leaves a place
// as it is. The learner's thread calls given() and scored().
struct GivenAnswers {
  // For a table of so many `places`; each answer has so many `numbers`, 0: nothing is scored. Takes
  // memory, writes nothing; call reset() before use.
  GivenAnswers(Arena& arena, std::uint32_t places, std::size_t numbers) noexcept
      : kept(arena, places, numbers), queue(arena, numbers > 0 ? places : 0) {}
  void reset() noexcept {
    kept.reset();
    queue.reset();
  }

  // The answer that was given to row `sequence` when it was asked about, valid until the next call;
  // null: the row came with its outcome. REQUIRES: calls in increasing order.
  const GivenAnswer* given(std::uint64_t sequence) noexcept {
    const std::optional<std::uint32_t> place = queue.find(sequence);
    if (!place) return nullptr;
    read = kept.read(*place);
    return &read;
  }
  // Tells that nothing will be asked about rows below `head`.
  void scored(std::uint64_t head) noexcept { queue.pass(head); }

  KeptAnswers kept;
  ScoreQueue queue;  // no more entries than places
  GivenAnswer read;  // the learner's
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_GIVEN_ANSWERS_H_
