// What the parts of `windhover bench durable` share, and the limits of the disk that holds the
// temporary folder ($TMPDIR).
#ifndef WINDHOVER_TOOLS_BENCH_DURABLE_H_
#define WINDHOVER_TOOLS_BENCH_DURABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windhover/runtime/config.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/load.h"
#include "windhover/tools/bench/suite.h"
#include "windhover/tools/temporary_folder.h"

namespace windhover {

// served_config(), with checkpoints and a follower for the log.
EngineConfig kept_config(const BenchOptions& options, std::uint32_t dimension);

// A server of such an engine, with or without a data folder below $TMPDIR. The folder outlives
// stop(); start() then serves what it holds.
class KeptServer {
 public:
  enum class Keeps : std::uint8_t { kNothing, kLog };

  KeptServer(const EngineConfig& config, Keeps keeps) : config_(config), keeps_(keeps) { start(); }

  void start();
  void stop() { served_.reset(); }
  ServedEngine& served() { return *served_; }
  Server& server() { return served_->server(); }
  // Takes a checkpoint and returns the seconds it took. RunError when there is none after
  // kPatience.
  double checkpoint();
  // Bytes of the largest checkpoint file.
  std::uint64_t checkpoint_bytes() const;

 private:
  EngineConfig config_;
  Keeps keeps_;
  TemporaryFolder folder_;
  std::optional<ServedEngine> served_;
};

// Sends rows until the engine has accepted `head` of them in all. RunError after kPatience.
void send_until(ServedEngine& served, const LoadRows& rows, std::uint64_t head);

// Bytes in the log of a commit of `frames` frames, each of `rows_a_frame` rows.
std::size_t commit_bytes(const ModelConfig& model, double frames, std::uint32_t rows_a_frame);

// What the process did over several spans of a run: the figures of the last span, but the heap
// calls of all, and the largest load by others and by the host.
class ProcessTurns {
 public:
  void add(Json figures);
  const Json& figures() const { return figures_; }

 private:
  Json figures_;
};

// The middle value; of an even number of values the upper one of the two in the middle.
double median(std::vector<double> values);

// The parts, each of which adds its runs.
void run_durable_ingest(const BenchOptions& options, Json& runs);
void run_durable_acknowledgements(const BenchOptions& options, Json& runs);
void run_durable_questions(const BenchOptions& options, Json& runs);
void run_durable_checkpoints(const BenchOptions& options, Json& runs);
void run_durable_starts(const BenchOptions& options, Json& runs);

// Bytes for the disk, all blocks of them different: some disks and hosts write zeros faster, or not
// at all.
std::vector<std::byte> unlike_blocks(std::size_t size);

// Writes one after the other into a file that was filled with zeros before, from its start again
// after its end: the least that a commit of the log can cost. No heap call after construction.
// RunError where the disk does not take it.
class BareFile {
 public:
  // Writes of at most `largest` bytes.
  BareFile(std::uint64_t bytes, std::size_t largest);
  ~BareFile();
  BareFile(const BareFile&) = delete;
  BareFile& operator=(const BareFile&) = delete;

  // Writes `bytes`, rounded up to whole blocks of 4096, and calls fdatasync. False when that fails.
  bool commit(std::size_t bytes) noexcept;

 private:
  TemporaryFolder folder_;
  std::vector<std::byte> data_;
  std::uint64_t bytes_;
  std::uint64_t at_ = 0;
  int file_;
};

// Seconds to make a new file of `bytes` bytes: written a mebibyte at a time, synced, renamed, its
// folder synced. RunError where the disk does not take it.
double new_file_seconds(std::uint64_t bytes);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_DURABLE_H_
