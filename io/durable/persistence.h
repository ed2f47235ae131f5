// What a server keeps on disk: recovery, log and checkpoints in one place.
#ifndef WINDHOVER_IO_DURABLE_PERSISTENCE_H_
#define WINDHOVER_IO_DURABLE_PERSISTENCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "windhover/io/durable/checkpoint_store.h"
#include "windhover/io/durable/checkpointer.h"
#include "windhover/io/durable/durable_config.h"
#include "windhover/io/durable/frame_feed.h"
#include "windhover/io/durable/frame_ring.h"
#include "windhover/io/durable/log_agent.h"
#include "windhover/io/durable/log_replay.h"
#include "windhover/io/durable/log_writer.h"
#include "windhover/io/durable/producer_capture.h"
#include "windhover/io/durable/recovery_report.h"
#include "windhover/io/endpoint.h"
#include "windhover/platform/arena.h"

namespace windhover {

// The memory that persistence needs from the block: none without a folder. Takes memory, writes
// nothing.
struct PersistenceMemory {
  // `producer_pairs`: ProducerTable::most_shown().
  PersistenceMemory(Arena& arena, const DurableConfig& config, std::size_t producer_pairs) noexcept;

  std::optional<FrameRing> ring;
  std::optional<ProducerCapture> producers;
  std::span<std::byte> writer;      // LogWriter::footprint()
  std::span<std::byte> reader;      // LogReader::footprint()
  std::span<std::byte> checkpoint;  // what checkpoints are written and read through
};

// Set-up: open() finds the newest good checkpoint, restores the engine and the table of producers
// from it, and reads the log after it once, so that damage is found before anybody is served.
// Running: the observe thread learns from the log what came after the checkpoint, a little at a
// time, and only then takes rows from senders (FrameFeed). From then on frames go to the log's
// thread, and the checkpoints' thread takes checkpoints.
// Invariant: while the feed is open, engine and table have all frames that were pushed to it.
class Persistence final {
 public:
  // All references outlive it.
  Persistence(PersistenceMemory& memory, const DurableConfig& config, Engine& engine,
              ProducerTable& producers, LogProgress& log, CheckpointProgress& checkpoints,
              Clock& clock) noexcept;
  ~Persistence();
  Persistence(const Persistence&) = delete;
  Persistence& operator=(const Persistence&) = delete;

  // Before any thread is at work. The sentence of an error names the folder and lives as long as
  // this; its number is an errno, or 0. Allocates.
  Result<bool> open();
  // The instance_id of the history: the folder's, or a new one. Valid after open().
  std::uint64_t instance() const noexcept { return recovered_.instance; }
  // Rows of checkpoint and log together. Valid after open().
  std::uint64_t recovered_head() const noexcept { return recovered_.head; }
  // What was wrong in the folder that the start could do without, such as bad checkpoints, as
  // sentences for the host; empty: nothing.
  const std::string& remarks() const noexcept { return report_.remarks(); }

  // Whether a folder has a file of this name, or may come to have one.
  static bool has_file(std::string_view name) noexcept;

  FrameFeed& feed() noexcept { return feed_; }

  // Sets what wakes the observe thread, which then calls on_wake(): when more is on disk, and when
  // a checkpoint needs a copy of the producers.
  void set_wake(void (*wake)(void*) noexcept, void* context) noexcept;

  // Starts the threads of log and checkpoints. Once, after open().
  Status start() noexcept;
  // Stops them, once all that was judged is written, as far as the disk allows. When the observe
  // thread has ended or let go of the model.
  void stop() noexcept;
  // Takes a checkpoint of all rows, when no thread is at work any more, the learner's included.
  // kNotReady: the log is not learned yet.
  Status checkpoint_at_rest() noexcept;

  // Asks for a checkpoint and returns the request's number (CheckpointProgress). Any thread.
  std::uint64_t request_checkpoint() noexcept { return checkpointer_->request(); }

  // The observe thread's. go_on() learns from the log for a moment; false: all has been learned.
  bool go_on() noexcept;
  void on_wake() noexcept;

 private:
  // Frames and rows of checkpoint and log together.
  struct Recovered {
    std::uint64_t instance = 0;
    std::uint64_t frames = 0;
    std::uint64_t head = 0;
  };
  // Wakes the observe thread; from any thread.
  struct WakeCall {
    void call() const noexcept {
      if (wake != nullptr) wake(context);
    }
    void (*wake)(void*) noexcept = nullptr;
    void* context = nullptr;
  };

  Result<bool> recover();
  Result<bool> begin_history();
  Result<bool> open_log(std::uint64_t frames);
  Result<bool> make_log(std::uint64_t frames);
  Result<bool> follow_log(std::uint64_t frames);
  Result<bool> verify_log(std::uint64_t frames);
  Result<bool> judge_passed_over();
  bool log_holds_all(const Result<LogIdentity>& identity) noexcept;

  PersistenceMemory& memory_;
  const DurableConfig config_;
  Engine& engine_;
  ProducerTable& producers_;
  LogProgress& log_;
  CheckpointProgress& checkpoints_;
  Clock& clock_;

  RecoveryReport report_;
  std::unique_ptr<Folder> own_folder_;  // unless the configuration brought one
  Folder* folder_ = nullptr;
  std::optional<CheckpointStore> store_;
  std::optional<LogWriter> writer_;
  std::optional<LogAgent> agent_;
  std::optional<Checkpointer> checkpointer_;
  FrameFeed feed_;
  LogReplay replay_;
  Recovered recovered_;
  WakeCall wake_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_PERSISTENCE_H_
