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

// Units and chains begin only once rows far out have left memory, for what such a row did to them
// would stay. The wait is bounded, as new rows may be far out for ever.
//
// Invariant: beyond the rows of a cold start it waits for as many again at most. One thread.
// Memory: a number for each row in memory.
class FarRowsWait {
 public:
  // `cursor` outlives it.
  FarRowsWait(Arena& arena, const EngineConfig& config, const WindowCursor& cursor) noexcept;
  // Begins a wait: at the head `full` the rows that a cold start takes are there.
  void begin(std::uint64_t full) noexcept {
    until_ = full + rows_;
    awaited_ = 0;
  }

  // Whether the cold start is to wait, because a row in memory is far out. O(rows x features),
  // unless it waits already.
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
