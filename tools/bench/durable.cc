#include "windhover/tools/bench/durable.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>

#include "windhover/io/durable/log_format.h"
#include "windhover/runtime/window/packed_rows.h"
#include "windhover/samplers/rows.h"
#include "windhover/tools/processor.h"

namespace windhover {

EngineConfig kept_config(const BenchOptions& options, std::uint32_t dimension) {
  EngineConfig config = served_config(options, dimension);
  config.checkpoints = true;
  config.max_followers = 1;
  return config;
}

void KeptServer::start() {
  ServedOptions options;
  options.max_sessions = 4 * kLoadConnections;  // those of the source before may still be draining
  if (keeps_ == Keeps::kLog) {
    options.durable.folder = folder_.path();
    // Only on request: runs that want a checkpoint ask for it.
    options.durable.checkpoint_period = std::chrono::milliseconds(0);
  }
  served_.emplace(config_, options);
}

double KeptServer::checkpoint() {
  const CheckpointProgress& progress = server().kept().checkpoints();
  const std::uint64_t number = value_or_throw(server().kept().request_checkpoint());
  wait_until([&] { return progress.answered.load() >= number; },
             "a checkpoint does not come to an end");
  if (!ok(progress.status.load())) throw RunError("there is no checkpoint");
  return 1e-9 * static_cast<double>(progress.lasted_ns.load());
}

std::uint64_t KeptServer::checkpoint_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    const std::string name = entry.path().filename();
    if (name.starts_with("checkpoint-")) bytes = std::max(bytes, entry.file_size());
  }
  return bytes;
}

void send_until(ServedEngine& served, const LoadRows& rows, std::uint64_t head) {
  const FrameSource source(served.observe_address(), rows, {});
  const auto taken = [&] {
    source.check();
    return served.engine().head() >= head;
  };
  wait_until(taken, "the server does not take the rows");
}

std::size_t commit_bytes(const ModelConfig& model, double frames, std::uint32_t rows_a_frame) {
  const std::size_t row = PackedRows(RowLayout(model)).largest();
  const double records = frames * static_cast<double>(record_bytes(rows_a_frame * row));
  return kCommitHeaderBytes + static_cast<std::size_t>(records);
}

void ProcessTurns::add(Json figures) {
  if (!figures_.is_null()) {
    Json& calls = figures["heap_calls"];
    if (calls.is_number()) {
      calls = calls.get<std::uint64_t>() + figures_["heap_calls"].get<std::uint64_t>();
    }
    for (const char* of_machine : {"others_cpu", "stolen_cpu"}) {
      figures[of_machine] =
          std::max(figures[of_machine].get<double>(), figures_[of_machine].get<double>());
    }
  }
  figures_ = std::move(figures);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

namespace {

struct Part {
  const char* name;
  void (*run)(const BenchOptions&, Json& runs);
};
constexpr std::array kParts = {
    Part{"acknowledgements", run_durable_acknowledgements}, Part{"ingest", run_durable_ingest},
    Part{"questions", run_durable_questions}, Part{"checkpoints", run_durable_checkpoints},
    Part{"starts", run_durable_starts}};

}  // namespace

std::vector<std::string> durable_parts() {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  return names;
}

Json run_durable(const BenchOptions& options) {
  if (options.dimensions.size() > 1) {
    throw UserError("--dimension takes one value for durable");
  }
  Json out = {{"chains", options.chains},
              {"query_rate", options.query_rate},
              {"limits", Json::object()},
              {"runs", Json::array()}};
  for (const Part& part : kParts) {
    const bool wanted =
        options.parts.empty() || std::ranges::find(options.parts, part.name) != options.parts.end();
    if (wanted) part.run(options, out["runs"]);
  }
  return out;
}

namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kPiece = std::size_t{1} << 20;

[[noreturn]] void refuse() { throw RunError("the disk of the temporary folder does not take it"); }

std::size_t whole_blocks(std::size_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

}  // namespace

std::vector<std::byte> unlike_blocks(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 131 + i / 256);
  return bytes;
}

BareFile::BareFile(std::uint64_t bytes, std::size_t largest)
    : data_(unlike_blocks(whole_blocks(largest))),
      bytes_(bytes),
      file_(::open(folder_.in("file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  const std::vector<std::byte> zeros(kPiece);
  bool made = file_ >= 0;
  for (std::uint64_t at = 0; at < bytes_ && made; at += zeros.size()) {
    made = ::pwrite(file_, zeros.data(), zeros.size(), static_cast<off_t>(at)) ==
           static_cast<ssize_t>(zeros.size());
  }
  made = made && ::fsync(file_) == 0;
  if (!made) {
    if (file_ >= 0) ::close(file_);
    refuse();
  }
}

BareFile::~BareFile() { ::close(file_); }

bool BareFile::commit(std::size_t bytes) noexcept {
  const std::size_t size = std::min(whole_blocks(bytes), data_.size());
  if (at_ + size > bytes_) at_ = 0;
  const ssize_t put = ::pwrite(file_, data_.data(), size, static_cast<off_t>(at_));
  at_ += size;
  return put == static_cast<ssize_t>(size) && ::fdatasync(file_) == 0;
}

double new_file_seconds(std::uint64_t bytes) {
  const TemporaryFolder folder;
  const std::vector<std::byte> piece = unlike_blocks(kPiece);
  const std::string path = folder.in("new");
  const double begin = wall_seconds();
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  bool good = file >= 0;
  for (std::uint64_t left = bytes; left > 0 && good;) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece));
    good = ::write(file, piece.data(), size) == static_cast<ssize_t>(size);
    left -= size;
  }
  good = good && ::fsync(file) == 0;
  if (file >= 0) ::close(file);
  good = good && std::rename(path.c_str(), folder.in("file").c_str()) == 0;
  const int place = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  good = good && place >= 0 && ::fsync(place) == 0;
  if (place >= 0) ::close(place);
  if (!good) refuse();
  return wall_seconds() - begin;
}

}  // namespace windhover
