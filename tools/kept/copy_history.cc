#include "windhover/tools/kept/copy_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "windhover/io/durable/checkpoint_store.h"
#include "windhover/io/durable/error_text.h"
#include "windhover/io/durable/log_writer.h"
#include "windhover/io/instance_id.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/window/packed_rows.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/kept_log.h"
#include "windhover/tools/kept/kept_text.h"
#include "windhover/tools/kept/log_sizes.h"
#include "windhover/tools/kept/new_folder.h"

namespace windhover {
namespace {

constexpr std::size_t kPiece = 1 << 20;
constexpr std::size_t kLargestCommit = 256 << 10;  // so that little of a segment is left over
constexpr int kAttempts = 10;
constexpr double kCheckpointPart = 0.3;  // of the progress

void demand(const Error& error, const std::string& path) {
  if (!ok(error.status)) throw RunError(fmt::format("{}: {}", path, error_text(error)));
}

std::uint64_t random_id() {
  const Result<std::uint64_t> id = random_instance_id();
  if (!id.ok()) throw RunError(error_text(id.error()));
  return id.value();
}

// A checkpoint, or the log that follows it, is gone: there are newer ones now.
class BeginAnew : public RunError {
 public:
  using RunError::RunError;
};

// The writer of the copy's log.
class LogCopy {
 public:
  LogCopy(NewFolder& to, const LogIdentity& identity)
      : path_(to.path()), block_(LogWriter::footprint(identity.options)), scratch_(kPiece) {
    demand(LogWriter::create(to.folder(), identity, false, scratch_), path_);
    if (!block_.valid()) throw RunError("there is no memory to write the log with");
    Arena arena(block_.bytes());
    Result<LogWriter> writer = LogWriter::open(to.folder(), arena);
    if (!writer.ok()) demand(writer.error(), path_);
    writer_.emplace(std::move(writer).value());
    commit_at_ = std::min<std::size_t>(identity.options.commit_bytes / 2, kLargestCommit);
  }

  void add(const LoggedFrame& frame, std::span<const std::byte> payload) {
    std::span<std::byte> room;
    Status status = writer_->add(frame, payload.size(), room);
    if (status == Status::kNotReady) {
      commit();
      status = writer_->add(frame, payload.size(), room);
    }
    if (!ok(status)) {
      throw RunError(fmt::format("frame {} of the log does not follow the one before: {}",
                                 frame.number, to_string(status)));
    }
    std::copy(payload.begin(), payload.end(), room.begin());
    if (writer_->pending_bytes() >= commit_at_) commit();
  }

  void commit() {
    const Status status = writer_->commit();
    if (status == Status::kLogFull) {
      throw RunError(
          fmt::format("a log of {} bytes is too small for the rows after the newest checkpoint; "
                      "have the server take another one first (windhover checkpoint take), or give "
                      "more",
                      writer_->capacity_bytes()));
    }
    if (!ok(status)) demand(writer_->error(), path_);
  }
  // Seals the log, so that damage to the copy's last commit is recognised later.
  void end() {
    commit();
    if (!ok(writer_->seal_durably())) demand(writer_->error(), path_);
  }

 private:
  std::string path_;
  MappedBlock block_;
  std::vector<std::byte> scratch_;
  std::optional<LogWriter> writer_;
  std::size_t commit_at_ = 0;
};

// One attempt at a copy.
class Copy {
 public:
  Copy(KeptFolder& from, const std::string& to, const CopyOptions& options,
       const CopyProgress& progress)
      : from_(from), to_(to), options_(options), progress_(progress) {}

  CopyReport run() {
    if (!options_.without_log) identity_ = from_.log_identity(&report_.remarks);
    if (identity_) log_ = identity_->options;
    if (options_.log_bytes || options_.segment_bytes) resize_log();
    choose_checkpoint();
    report_.instance = options_.new_instance ? random_id() : facts_.instance;
    copy_checkpoint();
    report_.rows = facts_.head;
    try {
      if (identity_) copy_log();
    } catch (const LogDamaged& damage) {
      throw LogDamaged(fmt::format("{}; `windhover restore --to-row {}` goes as far", damage.what(),
                                   report_.rows),
                       damage.frame);
    }
    if (options_.to_row && report_.rows < *options_.to_row) {
      throw UserError(fmt::format("{} ends at row {}: row {} is beyond it", from_.path(),
                                  grouped(report_.rows), grouped(*options_.to_row)));
    }
    to_.finish();
    return std::move(report_);
  }

 private:
  void resize_log() {
    if (!identity_) throw UserError(from_.path() + " holds no log that could have another size");
    log_.bytes = options_.log_bytes.value_or(log_.bytes);
    log_.segment_bytes = options_.segment_bytes.value_or(log_.segment_bytes);
    if (const std::string wrong = contradiction(log_, 0); !wrong.empty()) throw UserError(wrong);
  }

  void choose_checkpoint() {
    const std::vector<std::uint64_t> numbers = from_.checkpoints();
    std::optional<std::uint64_t> oldest;
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
      Result<CheckpointReader> reader = from_.open(*number);
      if (!reader.ok()) {
        if (reader.status() == Status::kUnavailable) throw BeginAnew(error_text(reader.error()));
        report_.remarks.push_back(fmt::format("{} was passed over: {}",
                                              KeptFolder::checkpoint_name(*number),
                                              error_text(reader.error())));
        continue;
      }
      facts_ = reader.value().facts();
      oldest = facts_.head;
      if (options_.to_row && facts_.head > *options_.to_row) continue;
      contents_ = read_contents(reader.value());
      report_.checkpoint = *number;
      report_.checkpoint_head = facts_.head;
      report_.producers = contents_.producers;
      return;
    }
    if (oldest) {
      throw UserError(fmt::format("row {} is before the oldest checkpoint of {}, at row {}",
                                  grouped(*options_.to_row), from_.path(), grouped(*oldest)));
    }
    std::string text = from_.path() + ": no checkpoint is good";
    for (const std::string& remark : report_.remarks) text += "; " + remark;
    throw RunError(text);
  }

  void copy_checkpoint() {
    std::vector<std::byte> buffer(kPiece);
    Result<CheckpointStore> opened = CheckpointStore::open(to_.folder(), buffer);
    if (!opened.ok()) demand(opened.error(), to_.path());
    CheckpointStore& store = opened.value();
    Result<CheckpointReader> reader = from_.open(report_.checkpoint);
    if (!reader.ok()) throw BeginAnew(error_text(reader.error()));
    CheckpointFacts facts = facts_;
    facts.instance = report_.instance;
    if (!ok(store.begin(facts))) demand(store.error(), to_.path());
    std::vector<std::byte> piece(kPiece);
    while (reader.value().left() > 0) {
      const auto part =
          std::span(piece).first(std::min<std::uint64_t>(kPiece, reader.value().left()));
      if (!ok(reader.value().read(part))) {
        throw RunError(from_.path() + ": the checkpoint cannot be read");
      }
      if (!ok(store.sink().write(part))) break;  // finish() says why
      const double left = static_cast<double>(reader.value().left());
      const double all = static_cast<double>(std::max<std::uint64_t>(1, facts_.body_bytes));
      progress_(kCheckpointPart * (1 - left / all), "checkpoint");
    }
    if (!ok(store.finish())) demand(store.error(), to_.path());
  }

  void copy_log() {
    report_.has_log = true;
    LogIdentity identity = *identity_;
    identity.options = log_;
    identity.instance = report_.instance;
    identity.salt = random_id();
    identity.first_frame = facts_.frames;
    identity.first_head = facts_.head;
    LogCopy copy(to_, identity);
    if (identity_->instance != facts_.instance || !log_reaches(facts_.frames)) {
      report_.remarks.emplace_back("the log does not go on after the checkpoint and was left out");
      return;
    }
    if (at_end()) return;
    KeptLog log(from_, *identity_, facts_.frames);
    LoggedFrame frame;
    std::span<const std::byte> payload;
    std::uint64_t bytes = 0;
    while (!at_end() && log.next(frame, payload)) {
      bytes += payload.size();
      if (frame.head != report_.rows) {
        throw RunError(fmt::format("{}: frame {} of the log is not of row {}", from_.path(),
                                   frame.number, grouped(report_.rows)));
      }
      if (options_.to_row) payload = cut(frame, payload);
      copy.add(frame, payload);
      ++report_.frames;
      report_.rows += frame.accepted;
      if (frame.producer != 0) report_.producers[frame.producer] = frame.next;
      tell(bytes);
    }
    copy.end();
  }

  bool at_end() const { return options_.to_row && report_.rows >= *options_.to_row; }

  // False where the log ends before the checkpoint: its server kept checkpoints alone for a while.
  bool log_reaches(std::uint64_t frame) {
    MappedBlock block(LogReader::footprint(identity_->options));
    if (!block.valid()) throw RunError("there is no memory to read the log with");
    Arena arena(block.bytes());
    const Result<LogReader> reader = LogReader::open(from_.folder(), frame, arena);
    return reader.ok() || reader.status() != Status::kUnavailable ||
           reader.error().number > static_cast<double>(frame);
  }

  // Cuts the rows of a frame that are beyond the end of the history, and their keys
  // (io/durable/logged_keys.h).
  std::span<const std::byte> cut(LoggedFrame& frame, std::span<const std::byte> payload) {
    const std::uint64_t wanted = *options_.to_row - report_.rows;
    if (frame.accepted <= wanted) return payload;
    const std::span<const std::byte> rows = payload.first(bytes_of_rows(payload, wanted));
    const std::span<const std::byte> keys = payload.subspan(bytes_of_rows(payload, frame.accepted));
    cut_.assign(rows.begin(), rows.end());
    if (!keys.empty()) {
      const std::size_t kept = (1 + wanted) * sizeof(std::uint64_t);
      const auto cut = keys.first(std::min(kept, keys.size()));
      cut_.insert(cut_.end(), cut.begin(), cut.end());
    }
    if (frame.refused > 0 && frame.producer != 0) {
      report_.remarks.push_back(fmt::format(
          "of producer {} the last frame was cut, and {} of its rows had been refused: those count "
          "as before the cut, so that no row is learned twice",
          frame.producer, frame.refused));
    }
    if (frame.producer != 0) frame.next -= frame.accepted - wanted;
    frame.accepted = wanted;
    return cut_;
  }

  // How many bytes the first `count` rows of a frame take.
  std::size_t bytes_of_rows(std::span<const std::byte> payload, std::uint64_t count) const {
    const std::optional<std::size_t> bytes =
        PackedRows(contents_.layout()).first_rows(payload, count);
    if (!bytes) {
      throw RunError("a frame of the log has another form than the checkpoint says");
    }
    return *bytes;
  }

  void tell(std::uint64_t bytes) const {
    double part = static_cast<double>(bytes) / static_cast<double>(identity_->options.bytes);
    if (options_.to_row) {
      const auto all = static_cast<double>(*options_.to_row - facts_.head);
      part = static_cast<double>(report_.rows - facts_.head) / std::max(1.0, all);
    }
    progress_(kCheckpointPart + (1 - kCheckpointPart) * part, "row " + grouped(report_.rows));
  }

  KeptFolder& from_;
  NewFolder to_;
  const CopyOptions& options_;
  const CopyProgress& progress_;
  std::optional<LogIdentity> identity_;
  LogOptions log_;  // of the copy
  CheckpointFacts facts_;
  CheckpointContents contents_;
  std::vector<std::byte> cut_;  // the payload of a frame that was cut
  CopyReport report_;
};

}  // namespace

CopyReport copy_history(KeptFolder& from, const std::string& to, const CopyOptions& options,
                        const CopyProgress& progress) {
  for (int attempt = 1;; ++attempt) {
    const std::vector<std::uint64_t> before = from.checkpoints();
    try {
      return Copy(from, to, options, progress).run();
    } catch (const BeginAnew&) {
      if (attempt == kAttempts || from.checkpoints() == before) throw;
    } catch (const LogMovedOn&) {
      if (attempt == kAttempts || from.checkpoints() == before) throw;
    } catch (const LogDamaged&) {
      // A segment that is reused while it is read looks like damage.
      if (attempt == kAttempts || from.checkpoints() == before) throw;
    }
  }
}

}  // namespace windhover
