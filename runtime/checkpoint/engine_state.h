// Saves and restores what an engine goes on from: Engine::state().
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
class Writer;
}  // namespace checkpoint

// All that an engine goes on from: rows, learner, newest snapshot, counters, keys.
//
// Invariant: the rows of a capture stay readable from the moment of its copy until they have been
// written, or it is released; there is one capture at a time. The learner's thread writes capture
// and lease until there is a copy, then the thread that writes the copy out (capture.h).
class EngineState {
 public:
  // Shows the state. An engine of the same configuration into which it is restored goes on bit for
  // bit as the one that was shown would have, and answers at once as it did. Call it on the
  // learner's thread, between polls, while nobody is in Engine::observe() or assist(); Readers may
  // go on. A visitor that only reads changes nothing. See platform/state_visitor.h.
  void visit_state(StateVisitor& visitor) noexcept;

  // Writes all of that, with what is needed to check it (runtime/checkpoint/format.md), under the
  // same conditions. kUnsupported without EngineConfig::checkpoints; kUnavailable while a capture
  // is under way; otherwise what the sink said. O(rows + state).
  Status save(Sink& sink) noexcept;

  // Becomes the engine that was saved: answers at once as it did, and goes on bit for bit where the
  // processor has the same instruction set. Call it before the first observe() as a rule, and in
  // any case while nobody is in observe(), poll(), assist() or a Reader, and no Reader holds a
  // snapshot (Reader::release). Refused, with a sentence that says why, is what is no checkpoint,
  // or one of another version, of another model or configuration (the field is named), damaged (the
  // section is named) or cut short. Everything is verified before any of it counts, and after a
  // refusal the engine is as after create(), but for Readers and followers, which stay valid.
  // Without EngineConfig::checkpoints (kUnsupported), or while a capture is under way
  // (kUnavailable), nothing is read, and the engine stays as it is. Fields that config_fields.h
  // leaves out, such as window slack, may differ from when the engine was saved.
  Result<bool> restore(Source& source) noexcept;

  // These save an engine at work. request_capture() has the learner copy its state, without the
  // rows, when the round under way ends, inside poll(), also when there is nothing to do. From then
  // on the rows of that moment stay readable until they have been written, while the writer of the
  // window may go on for window_slack rows. Call it on any one thread. kUnsupported without
  // EngineConfig::checkpoints, kUnavailable until release_capture() has ended the capture before.
  Status request_capture() noexcept;
  // Whether the copy has been made. Any thread.
  bool captured() const noexcept;
  // How many rows the learner had taken in by then. REQUIRES: captured().
  std::uint64_t captured_head() const noexcept;
  // Writes what save() writes, with the rows up to `head`: an engine restored from it is as it was
  // captured, and the rows since then wait for its learner. Call it on a thread of its own, once a
  // capture. kInvalidArgument unless captured_head() <= head <= Engine::head(); kUnavailable
  // without a copy, or if it has been written; kUnsupported as above; otherwise what the sink said.
  Status save_captured(Sink& sink, std::uint64_t head) noexcept;
  // Releases rows and copy, on the thread of save_captured(). A request whose copy has not been
  // made yet is called off; without a request nothing happens.
  void release_capture() noexcept;

 private:
  friend struct EngineLayout;
  friend class Engine;

  // Takes memory, writes nothing.
  EngineState(EngineLayout& engine, Arena& arena) noexcept;
  // Whether a copy may be wanted; null: none ever is.
  const std::atomic<bool>* wanted() const noexcept;
  // Makes the copy if one is wanted. The learner's thread, between rounds.
  void take_wanted() noexcept;

  std::uint32_t lease() const noexcept;  // which of the window's leases a capture holds
  void take() noexcept;
  Status write(Sink& sink, std::uint64_t head) noexcept;
  Status write_keys(checkpoint::Writer& writer, std::uint64_t head) noexcept;
  Result<bool> read(Source& source) noexcept;
  bool read_rows(std::span<const std::byte> payload, std::uint64_t& next,
                 std::uint64_t head) noexcept;
  Result<bool> put(std::span<const std::byte> sections, std::uint64_t at) noexcept;

  EngineLayout& engine_;
  checkpoint::Capture* capture_;  // null: no checkpoints
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_ENGINE_STATE_H_
