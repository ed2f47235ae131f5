// How long a cold start without a window waits for rows far out to leave memory.
#ifndef WINDHOVER_RUNTIME_LEARNING_FAR_ROWS_WAIT_H_
#define WINDHOVER_RUNTIME_LEARNING_FAR_ROWS_WAIT_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/window/window_cursor.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// A row far out among those that units and chains would begin with leaves memory before they do:
// what it did to them would stay. The wait ends all the same, where every hundredth row is such.
//
// Invariant: nothing is waited for beyond as many rows as a cold start takes, from its first ones
// on. One thread. Memory: a number for each row in memory.
class FarRowsWait {
 public:
  // Both outlive it.
  FarRowsWait(Arena& arena, const EngineConfig& config, const WindowCursor& cursor) noexcept;
  // The rows that a cold start takes are there when the head is this.
  void begin(std::uint64_t full) noexcept {
    until_ = full + rows_;
    awaited_ = 0;
  }

  // Whether rows are waited for, in place of those in memory.
  bool awaits(const Model& model) noexcept;
  // How many rows are waited for.
  std::uint64_t wanted() const noexcept {
    return cursor_.head() < awaited_ ? awaited_ - cursor_.head() : 0;
  }
  // How many came beyond those that a cold start takes.
  std::uint64_t waited() const noexcept { return cursor_.head() - (until_ - rows_); }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept { visitor.values(until_, awaited_); }

 private:
  const WindowCursor& cursor_;
  std::uint64_t rows_;         // of a cold start
  std::uint64_t until_ = 0;    // rows at which those in memory are taken, whatever they are
  std::uint64_t awaited_ = 0;  // rows at which those far out have left memory
  std::span<double> column_;   // scratch
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_FAR_ROWS_WAIT_H_
