// What an engine goes on from, saved and restored: Engine::state().
#ifndef WINDHOVER_RUNTIME_CHECKPOINT_ENGINE_STATE_H_
#define WINDHOVER_RUNTIME_CHECKPOINT_ENGINE_STATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/result.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/checkpoint/sink.h"

namespace windhover {

struct EngineLayout;
namespace checkpoint {
class Capture;
}

// All that an engine goes on from: rows, learner, newest snapshot, counters.
//
// Invariant: the rows of a capture stay readable from the moment it was taken at until they have
// been written, or it is released; there is one at a time. Capture and lease are its own: written
// by the learner's thread until there is a copy, then by whoever writes that (capture.h).
class EngineState {
 public:
  // Shows the state. What is restored into an engine of the same configuration goes on bit for bit
  // as the one that was shown would have, and answers at once as it did. Call it on the learner's
  // thread, between polls, while nobody is in Engine::observe() or assist(); Readers may go on.
  // Writing changes nothing. See platform/state_visitor.h.
  void visit_state(StateVisitor& visitor) noexcept;

  // Writes all of that, with what a reader needs to check it (runtime/checkpoint/format.md). The
  // same conditions hold. kUnsupported without EngineConfig::checkpoints; kUnavailable while a
  // capture is under way; otherwise what the sink said. Complexity O(rows + state).
  Status save(Sink& sink) noexcept;

  // Becomes the engine that was saved: answers at once as it did, and goes on bit for bit where the
  // processor has the same instruction set. Before the first observe() as a rule; in any case
  // while nobody is in observe(), poll(), assist() or a Reader, and no Reader holds a snapshot
  // (Reader::release). Refused, with a sentence that says why: what is no checkpoint, or one of a
  // later version, of another model or configuration (the field is named), damaged (the section is
  // named), or ended too early. Everything is verified before any of it counts, and after a refusal
  // the engine is as after create(), but for Readers and followers, which stay valid; in one that
  // keeps no checkpoints (kUnsupported), or while a capture is under way (kUnavailable), nothing is
  // read, and the engine stays as it is. Window slack, frame size, readers, followers and threads
  // may be other ones than when it was saved.
  Result<bool> restore(Source& source) noexcept;

  // The same of an engine at work. request_capture() has the learner copy its state, without the
  // rows, when the round under way ends, inside poll(), also when there is nothing to do. From
  // then on the rows of that moment stay readable until they have been written: the writer may go
  // on for window_slack rows meanwhile. request_capture() may be called on any one thread:
  // kUnsupported without EngineConfig::checkpoints, kUnavailable until release_capture() has ended
  // the one before.
  Status request_capture() noexcept;
  // Whether the copy has been made. Any thread.
  bool captured() const noexcept;
  // Rows that the learner had taken in. REQUIRES: captured().
  std::uint64_t captured_head() const noexcept;
  // Writes what save() writes, with the rows up to `head`: restored, the engine is as it was
  // captured, and the rows since then wait for its learner. Call it on a thread of its own, once a
  // capture. kInvalidArgument unless captured_head() <= head <= Engine::head(); kUnavailable
  // without a capture, or where it has been written; otherwise what the sink said.
  Status save_captured(Sink& sink, std::uint64_t head) noexcept;
  // Releases rows and copy; the same thread. Without a capture it does nothing; one that is
  // requested and not taken yet is called off.
  void release_capture() noexcept;

 private:
  friend struct EngineLayout;
  friend class Engine;

  // Takes memory, writes nothing.
  EngineState(EngineLayout& engine, Arena& arena) noexcept;
  // Whether somebody waits for a copy; null: nobody ever does.
  const std::atomic<bool>* wanted() const noexcept;
  // Makes the copy that is waited for. The learner's thread, between rounds.
  void take_wanted() noexcept;

  std::uint32_t lease() const noexcept;  // the window's, that a capture holds
  void take() noexcept;
  Status write(Sink& sink, std::uint64_t head) noexcept;
  Result<bool> read(Source& source) noexcept;
  bool read_rows(std::span<const std::byte> payload, std::uint64_t& next,
                 std::uint64_t head) noexcept;
  Result<bool> put(std::span<const std::byte> sections, std::uint64_t at) noexcept;

  EngineLayout& engine_;
  checkpoint::Capture* capture_;  // null: no checkpoints
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_ENGINE_STATE_H_
