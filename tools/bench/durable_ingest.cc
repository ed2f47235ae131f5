// Rows a second while they are logged, beside the same engine without a log and beside the disk;
// and the time of an acknowledgement beside a bare write of the same bytes.
#include <google/protobuf/arena.h>
#include <sys/socket.h>

#include "windhover/io/framing.h"
#include "windhover/tools/bench/durable.h"
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/bench/loopback.h"

namespace windhover {

namespace {

constexpr std::uint64_t kBareBytes = 256ULL << 20;  // as many as the log has by default
constexpr std::size_t kLargestCommit = std::size_t{4} << 20;
constexpr int kTurns = 5;

// Rows a second while a source sends for `seconds`, or, where the machine is busy, until the first
// rows have been taken.
double rate_of(KeptServer& kept, const LoadRows& rows, std::uint32_t connections, double seconds,
               ProcessTurns& process) {
  const FrameSource source(kept.served().observe_address(), rows, {.connections = connections});
  sleep_for(std::min(0.2, seconds));  // all connections under way
  const IngestSpan span(kept.served());
  const ProcessSpan process_span;
  const double end = wall_seconds() + kPatience;
  sleep_for(seconds);
  while (span.rows_per_second() == 0 && wall_seconds() < end) sleep_for(seconds);
  process.add(process_span.figures());
  const double rate = span.rows_per_second();
  source.check();
  return rate;
}

struct Commits {
  explicit Commits(const LogProgress& log)
      : frames(log.durable_frames.load()), commits(log.commits.load()) {}
  std::uint64_t frames;
  std::uint64_t commits;
};

void commit(BareFile& file, std::size_t bytes) {
  if (!file.commit(bytes)) throw RunError("a bare write failed");
}

// Bytes a second of bare commits of this size.
double bare_rate(BareFile& file, std::size_t bytes, double seconds) {
  const double begin = wall_seconds();
  double written = 0;
  do {
    commit(file, bytes);
    written += static_cast<double>(bytes);
  } while (wall_seconds() - begin < seconds);
  return written / (wall_seconds() - begin);
}

void ingest(const BenchOptions& o, std::uint32_t dimension, std::uint32_t connections, Json& runs) {
  const double seconds = o.seconds > 0 ? o.seconds : 1.0;
  const LoadRows rows = load_rows(dimension, 0);
  const EngineConfig config = kept_config(o, dimension);
  KeptServer without(config, KeptServer::Keeps::kNothing);
  KeptServer with(config, KeptServer::Keeps::kLog);
  settle(without.served(), rows, true);
  settle(with.served(), rows, true);
  BareFile file(kBareBytes, kLargestCommit);
  const double row_bytes =
      static_cast<double>(commit_bytes(config.model, 1, rows.rows_per_frame)) / rows.rows_per_frame;
  std::vector<double> unlogged;
  std::vector<double> logged;
  std::vector<double> disk;
  std::vector<double> ratios;
  std::vector<double> sizes;
  ProcessTurns beside;
  ProcessTurns process;
  for (int turn = 0; turn < kTurns; ++turn) {
    // The order alternates, because each leaves its learner with work to do.
    if (turn % 2 == 0) unlogged.push_back(rate_of(without, rows, connections, seconds, beside));
    const Commits before(with.server().kept().log());
    logged.push_back(rate_of(with, rows, connections, seconds, process));
    const Commits after(with.server().kept().log());
    if (turn % 2 != 0) unlogged.push_back(rate_of(without, rows, connections, seconds, beside));
    const double frames =
        static_cast<double>(after.frames - before.frames) /
        static_cast<double>(std::max<std::uint64_t>(1, after.commits - before.commits));
    const std::size_t size = commit_bytes(config.model, frames, rows.rows_per_frame);
    sizes.push_back(static_cast<double>(size));
    disk.push_back(bare_rate(file, std::min(size, kLargestCommit), seconds) / row_bytes);
    // A turn in which nothing was taken gives no ratio.
    const double ratio = logged.back() / std::min(disk.back(), unlogged.back());
    if (std::isfinite(ratio)) ratios.push_back(ratio);
  }
  Json run = {{"name", fmt::format("ingest D={} {} a frame {} conn", dimension, rows.rows_per_frame,
                                   connections)},
              {"rows_per_second", median(logged)},
              {"without_a_log", median(unlogged)},
              {"of_the_disk_alone", median(disk)},
              {"commit_bytes", median(sizes)},
              {"of_the_lesser", ratios.empty() ? Json() : Json(median(ratios))},
              {"of_the_lesser_worst",
               ratios.empty() ? Json() : Json(*std::min_element(ratios.begin(), ratios.end()))}};
  run.update(process.figures());
  runs.push_back(std::move(run));
}

// Sends one frame at a time and waits for its acknowledgement, from a server with a log until it is
// on disk.
class Sender {
 public:
  Sender(ServedEngine& served, const LoadRows& rows)
      : frames_(rows), socket_(connect_and_greet(served.observe_address())) {}
  ~Sender() { ::close(socket_); }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void send() {
    frames_.set_sequence(frame_, kProducer, sequence_);
    sequence_ += frames_.rows_per_frame;
    const std::size_t begin = frames_.begin(frame_);
    const std::size_t size = frames_.ends[frame_] - begin;
    if (!write_all(socket_, frames_.bytes.data() + begin, size) || !hear_of_all_rows()) {
      throw RunError("the server does not acknowledge a frame");
    }
    frame_ = (frame_ + 1) % frames_.ends.size();
  }

 private:
  // A number that only the 16,383rd connection of all FrameSources gets.
  static constexpr std::uint64_t kProducer = (1U << 14) - 1;

  // Makes no heap call, because those of the server are counted meanwhile.
  bool hear_of_all_rows() {
    std::array<std::byte, 4096> bytes;
    std::size_t received = 0;
    for (;;) {
      const ssize_t n = ::recv(socket_, bytes.data() + received, bytes.size() - received, 0);
      if (n <= 0) return false;
      received += static_cast<std::size_t>(n);
      const FrameScan scan = scan_frame(std::span(bytes).first(received), bytes.size());
      if (scan.kind == FrameScan::kNeedMore) continue;
      google::protobuf::Arena arena(arena_block_.data(), arena_block_.size());
      auto* answer = google::protobuf::Arena::CreateMessage<v1::Response>(&arena);
      return scan.kind == FrameScan::kFrame &&
             answer->ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size())) &&
             answer->observe_ack().accepted() == frames_.rows_per_frame;
    }
  }

  FrameBytes frames_;
  int socket_;
  alignas(std::max_align_t) std::array<char, 4096> arena_block_;
  std::size_t frame_ = 0;
  std::uint64_t sequence_ = 0;
};

void acknowledgement(const BenchOptions& o, std::uint32_t rows_a_frame, Json& runs) {
  const std::uint32_t dimension = list_or(o.dimensions, {10}).front();
  const EngineConfig config = kept_config(o, dimension);
  LoadRows rows = load_rows(dimension, 0);
  KeptServer without(config, KeptServer::Keeps::kNothing);
  KeptServer with(config, KeptServer::Keeps::kLog);
  settle(without.served(), rows, true);
  settle(with.served(), rows, true);
  rows.rows_per_frame = rows_that_fit(rows_a_frame, dimension, 0);
  rows_a_frame = rows.rows_per_frame;
  rows.sequenced = true;
  Sender unlogged_sender(without.served(), rows);
  Sender logged_sender(with.served(), rows);
  const std::size_t bytes = commit_bytes(config.model, 1, rows_a_frame);
  BareFile file(kBareBytes, bytes);
  Histogram logged;
  Histogram unlogged;
  Histogram bare;
  const double end = wall_seconds() + (o.seconds > 0 ? o.seconds : 4.0);
  const std::uint64_t commits = with.server().kept().log().commits.load();
  const ProcessSpan process_span;
  // In turns, so that what the disk and the machine do in these seconds affects all three.
  do {
    for (int i = 0; i < 20; ++i) record(logged, [&] { logged_sender.send(); });
    for (int i = 0; i < 20; ++i) record(bare, [&] { commit(file, bytes); });
    for (int i = 0; i < 20; ++i) record(unlogged, [&] { unlogged_sender.send(); });
  } while (wall_seconds() < end);
  Json process = process_span.figures();
  if (with.server().kept().log().commits.load() - commits < logged.count()) {
    throw RunError("a frame was acknowledged that is in no commit");
  }
  const auto of_bare = [&](double q, std::int64_t more) {
    return static_cast<double>(logged.quantile(q)) / static_cast<double>(bare.quantile(q) + more);
  };
  Json run = {{"name", fmt::format("acknowledgement D={} {} a frame", dimension, rows_a_frame)},
              {"bytes", bytes},
              {"p50_of_bare", of_bare(0.5, 0)},
              {"p99_of_bare", of_bare(0.99, 0)},
              {"p50_of_bare_and_unlogged", of_bare(0.5, unlogged.quantile(0.5))},
              {"p99_of_bare_and_unlogged", of_bare(0.99, unlogged.quantile(0.99))}};
  run.update(process);
  run["logged"] = percentiles(logged);
  run["unlogged"] = percentiles(unlogged);
  run["bare"] = percentiles(bare);
  runs.push_back(std::move(run));
}

}  // namespace

void run_durable_ingest(const BenchOptions& options, Json& runs) {
  for (const std::uint32_t dimension : list_or(options.dimensions, {10, 100})) {
    for (const std::uint32_t connections : {1U, 32U}) ingest(options, dimension, connections, runs);
  }
}

void run_durable_acknowledgements(const BenchOptions& options, Json& runs) {
  for (const std::uint32_t rows : {1U, 256U}) acknowledgement(options, rows, runs);
}

}  // namespace windhover
