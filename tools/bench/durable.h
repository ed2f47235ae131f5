// What the parts of `windhover bench durable` share, and what the disk that holds the temporary
// folder ($TMPDIR) can do.
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

// served_config(), with what a folder needs.
EngineConfig kept_config(const BenchOptions& options, std::uint32_t dimension);

// A server of such an engine, with a folder below $TMPDIR or without one. The folder outlives
// stop(); start() then is the next life.
class KeptServer {
 public:
  enum class Keeps : std::uint8_t { kNothing, kLog };

  KeptServer(const EngineConfig& config, Keeps keeps) : config_(config), keeps_(keeps) { start(); }

  void start();
  void stop() { served_.reset(); }
  ServedEngine& served() { return *served_; }
  Server& server() { return served_->server(); }
  // Seconds that one checkpoint took. RunError when there is none after kPatience.
  double checkpoint();
  // Size of the newest checkpoint's file.
  std::uint64_t checkpoint_bytes() const;

 private:
  EngineConfig config_;
  Keeps keeps_;
  TemporaryFolder folder_;
  std::optional<ServedEngine> served_;
};

// Sends rows until the engine has had so many. RunError after kPatience.
void send_until(ServedEngine& served, const LoadRows& rows, std::uint64_t head);

// What a commit of so many frames of so many rows takes in the log.
std::size_t commit_bytes(const ModelConfig& model, double frames, std::uint32_t rows_a_frame);

// What the process did over several spans of a run: the last one's figures, but heap calls of all,
// and the most that others took of the machine in one.
class ProcessTurns {
 public:
  void add(Json figures);
  const Json& figures() const { return figures_; }

 private:
  Json figures_;
};

// The middle one; of an even number the upper one of the middle.
double median(std::vector<double> values);

// Each adds its runs.
void run_durable_ingest(const BenchOptions& options, Json& runs);
void run_durable_acknowledgements(const BenchOptions& options, Json& runs);
void run_durable_questions(const BenchOptions& options, Json& runs);
void run_durable_checkpoints(const BenchOptions& options, Json& runs);
void run_durable_starts(const BenchOptions& options, Json& runs);

// A file of zeros that were written before, and writes into it one after another, from its begin
// again after its end: the least that a commit of the log can cost. After construction no heap
// call. RunError where the disk does not take it.
class BareFile {
 public:
  // Writes of at most `largest` bytes.
  BareFile(std::uint64_t bytes, std::size_t largest);
  ~BareFile();
  BareFile(const BareFile&) = delete;
  BareFile& operator=(const BareFile&) = delete;

  // `bytes`, rounded up to whole blocks of 4096, and fdatasync. False when the disk says no.
  bool commit(std::size_t bytes) noexcept;

 private:
  TemporaryFolder folder_;
  std::vector<std::byte> data_;
  std::uint64_t bytes_;
  std::uint64_t at_ = 0;
  int file_;
};

// Seconds that a new file of so many bytes takes: written a mebibyte at a time, synced, renamed,
// its folder synced. RunError where the disk does not take it.
double new_file_seconds(std::uint64_t bytes);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_DURABLE_H_
