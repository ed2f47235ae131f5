// How a start restores what the folder holds.
#include "windhover/io/durable/persistence.h"

#include <cerrno>

#include "windhover/io/durable/error_text.h"
#include "windhover/io/durable/logged_keys.h"
#include "windhover/io/durable/posix_folder.h"
#include "windhover/io/instance_id.h"

namespace windhover {
namespace {

constexpr const char* kLockName = "lock";

Error too_many_producers(RecoveryReport& report, const ProducerTable& producers) {
  return report.fail({Status::kInvalidConfig},
                     "server.max_producers = " + std::to_string(producers.capacity()) +
                         " is smaller than the number of producers that the folder knows");
}

}  // namespace

bool Persistence::has_file(std::string_view name) noexcept {
  return name == kLockName || is_log_file(name) || is_checkpoint_file(name);
}

Result<bool> Persistence::open() {
  folder_ = config_.disk;
  if (folder_ == nullptr) {
    Result<PosixFolder> folder = PosixFolder::open(report_.path().c_str(), true);
    if (!folder.ok()) return report_.fail(folder.error(), "the folder cannot be used");
    own_folder_ = std::make_unique<PosixFolder>(std::move(folder.value()));
    folder_ = own_folder_.get();
  }
  if (const std::int64_t locked = folder_->lock(kLockName); locked < 0) {
    return report_.fail(error_of(locked, ""), locked == -EWOULDBLOCK
                                                  ? "another windhoverd uses this folder"
                                                  : "the folder cannot be locked");
  }
  Result<CheckpointStore> store = CheckpointStore::open(*folder_, memory_.checkpoint);
  if (!store.ok()) return report_.fail(store.error(), "the checkpoints cannot be listed");
  store_.emplace(std::move(store.value()));
  const Result<bool> recovered = recover();
  if (!recovered.ok()) return recovered;
  engine_.progress().set_recovery_target(recovered_.head);
  if (!replay_.is_under_way()) feed_.open(recovered_.frames);
  return true;
}

// Restores the newest good checkpoint, then opens the log after it. Without either, a new history
// begins.
Result<bool> Persistence::recover() {
  Result<CheckpointReader> newest = store_->open_newest();
  const Result<bool> passed_over = judge_passed_over();
  if (!passed_over.ok()) return passed_over;
  const Result<LogIdentity> identity = read_log_identity(*folder_);
  const bool has_log = identity.ok();
  if (!has_log && identity.error().status != Status::kUnavailable) {
    return report_.fail_without_log("the log cannot be read", identity.error());
  }
  if (has_log && !config_.log) {
    return report_.fail(
        {Status::kInvalidConfig},
        "it holds a log, so rows were promised to be kept: data.durability = \"logged\", "
        "or another folder");
  }
  if (!newest.ok()) {
    if (newest.error().status != Status::kUnavailable) {
      return report_.fail(newest.error(), "the checkpoints cannot be read");
    }
    if (!store_->entries().empty()) {
      return report_.fail({}, "no checkpoint is good (" + report_.remarks() + "); " +
                                  (log_holds_all(identity)
                                       ? "the log has every row since the first: move the "
                                         "checkpoints away, and a start with this configuration "
                                         "learns them again"
                                       : "restore a backup, or give another folder to begin anew"));
    }
    if (!has_log) return begin_history();
    if (identity.value().first_frame != 0) {
      return report_.fail(
          {},
          "the checkpoint that the log begins after is missing; restore a backup, or "
          "give another folder to begin anew");
    }
    recovered_.instance = identity.value().instance;
    return open_log(0);
  }
  CheckpointReader& checkpoint = newest.value();
  const Status known = ProducerCapture::read(checkpoint, producers_);
  if (known == Status::kTooLarge) return too_many_producers(report_, producers_);
  if (!ok(known)) {
    return report_.fail({known}, "the newest checkpoint's table of producers cannot be read");
  }
  const std::uint64_t begins = checkpoint.place();
  const Result<bool> restored = engine_.state().restore(checkpoint);
  if (!restored.ok()) {
    return report_.fail(moved_by(begins, restored.error()),
                        "the newest checkpoint cannot be taken up");
  }
  checkpoints_.head.store(checkpoint.facts().head, std::memory_order_relaxed);
  recovered_.instance = checkpoint.facts().instance;
  // Without a log the rows after the checkpoint are lost: a new history goes on from here.
  if (!has_log) {
    const Result<std::uint64_t> instance = random_instance_id();
    if (!instance.ok()) return instance.error();
    recovered_.instance = instance.value();
    if (config_.log)
      report_.add_remark("there was no log: rows after the newest checkpoint, if any, are gone");
  }
  recovered_.head = checkpoint.facts().head;
  recovered_.frames = checkpoint.facts().frames;
  return open_log(recovered_.frames);
}

// Whether the log has every frame from the first of the history on.
bool Persistence::log_holds_all(const Result<LogIdentity>& identity) noexcept {
  if (!config_.log || !identity.ok() || identity.value().first_frame != 0) return false;
  Arena arena(memory_.reader);
  return LogReader::open(*folder_, 0, arena).ok();
}

// Judges the checkpoints that cannot be used. The start fails over one of another version, or,
// where no log is kept, over one that cannot be read now: its rows may be nowhere else.
Result<bool> Persistence::judge_passed_over() {
  for (const CheckpointStore::Entry& entry : store_->entries()) {
    const Status why = entry.why.status;
    if (ok(why)) continue;
    const std::string name = CheckpointName(entry.number).text.data();
    if (why == Status::kUnsupported || (!config_.log && why != Status::kMalformed)) {
      return report_.fail(entry.why, name + " cannot be used");
    }
    report_.add_remark(name + " was passed over: " + error_sentence(entry.why));
  }
  return true;
}

Result<bool> Persistence::begin_history() {
  const Result<std::uint64_t> instance = random_instance_id();
  if (!instance.ok()) return instance.error();
  recovered_.instance = instance.value();
  return open_log(0);
}

// Goes on after frame `frames`, with the folder's log or with one that begins there.
Result<bool> Persistence::open_log(std::uint64_t frames) {
  recovered_.frames = frames;
  if (config_.log) {
    const Result<bool> made = make_log(frames);
    if (!made.ok()) return made;
    const Result<bool> followed = follow_log(frames);
    if (!followed.ok()) return followed;
  }
  checkpointer_.emplace(
      Checkpointer::Parts{engine_, *store_, *memory_.producers, feed_, log_,
                          agent_ ? &*agent_ : nullptr, checkpoints_, clock_, recovered_.instance,
                          config_.log ? config_.log_options.bytes : 0, config_.checkpoint_period,
                          [](void* self) { static_cast<Persistence*>(self)->wake_.call(); }, this});
  checkpointer_->begin_with(frames);
  // A checkpoint tells the configuration, which keeps a later start from reading this log as rows
  // of another model: so there is one before the first row.
  if (store_->entries().empty()) {
    if (const Status status = checkpointer_->take_at_rest(producers_, frames); !ok(status)) {
      return report_.fail(store_->error(), "the first checkpoint cannot be written");
    }
  }
  return config_.log ? verify_log(frames) : Result<bool>(true);
}

// Opens the log; makes it where there is none.
Result<bool> Persistence::make_log(std::uint64_t frames) {
  Result<LogIdentity> identity = read_log_identity(*folder_);
  if (!identity.ok() && identity.error().status == Status::kUnavailable) {
    const Result<std::uint64_t> salt = random_instance_id();
    if (!salt.ok()) return salt.error();
    LogIdentity fresh;
    fresh.instance = recovered_.instance;
    fresh.salt = salt.value();
    fresh.first_frame = frames;
    fresh.first_head = recovered_.head;
    fresh.options = config_.log_options;
    const Error made = LogWriter::create(*folder_, fresh, false, memory_.checkpoint);
    // kRefused: there are segments whose identity is missing.
    if (made.status == Status::kRefused) {
      return report_.fail_without_log("the log cannot be made", made);
    }
    if (!ok(made.status)) return report_.fail(made, "the log cannot be made");
    identity = read_log_identity(*folder_);
  }
  if (!identity.ok()) return report_.fail(identity.error(), "the log cannot be read");
  const LogIdentity& log = identity.value();
  const LogOptions& wanted = config_.log_options;
  if (log.options.bytes != wanted.bytes || log.options.segment_bytes != wanted.segment_bytes ||
      log.options.commit_bytes != wanted.commit_bytes) {
    return report_.fail(
        {}, "the log was made with data.log_bytes = " + std::to_string(log.options.bytes) +
                ", data.segment_bytes = " + std::to_string(log.options.segment_bytes) +
                ", data.commit_bytes = " + std::to_string(log.options.commit_bytes) +
                "; keep these, or have windhover restore --log-bytes make a folder with others");
  }
  // A log that was made after the checkpoint, because there was none, has a history of its own.
  if (log.instance != recovered_.instance && log.first_frame != frames) {
    return report_.fail({}, "checkpoint and log are of different histories");
  }
  recovered_.instance = log.instance;
  Arena arena(memory_.writer);
  std::size_t segment = kNoSegment;
  Result<LogWriter> writer = LogWriter::open(*folder_, arena, &segment);
  if (!writer.ok()) return report_.fail_in_log("the log cannot be opened", writer.error(), segment);
  writer_.emplace(std::move(writer.value()));
  if (writer_->found_unfinished()) {
    report_.add_remark(
        "the log's last commit was never finished and is left out; its rows were not "
        "acknowledged as on disk");
  }
  if (writer_->durable_frames() < frames) {
    return report_.fail({}, "the log ends at frame " + std::to_string(writer_->durable_frames()) +
                                ", before the newest checkpoint, at frame " +
                                std::to_string(frames));
  }
  return true;
}

// Sets up the log's thread, the feed of the observe thread, and the log's progress.
Result<bool> Persistence::follow_log(std::uint64_t frames) {
  const Result<RowFollower> follower = engine_.follower();
  if (!follower.ok()) return follower.error();
  RowFollower rows = follower.value();
  rows.keep_from(writer_->durable_head());
  if (store_->frames_needed() <= frames) writer_->release_below(store_->frames_needed());
  recovered_.frames = writer_->durable_frames();
  recovered_.head = writer_->durable_head();
  log_.durable_frames.store(recovered_.frames);
  log_.committing_frames.store(recovered_.frames);
  log_.durable_head.store(recovered_.head);
  memory_.ring->reset(recovered_.frames);
  const PackedRows packed(RowLayout(engine_.config().model));
  const bool keys = engine_.config().labels.pending > 0;
  const FrameSizes sizes{packed.largest() + (keys ? LoggedKeys::kLargest : 0),
                         writer_->max_payload()};
  agent_.emplace(*memory_.ring, *writer_, rows, engine_.labels(), sizes, log_, clock_,
                 LogAgent::Options{.commit_interval = config_.commit_interval});
  agent_->on_durable([](void* self) noexcept { static_cast<Persistence*>(self)->wake_.call(); },
                     this);
  std::destroy_at(&feed_);
  std::construct_at(&feed_, &*memory_.ring, log_, &agent_->wake(), sizes);
  return true;
}

// Reads the log after `frames` once, so that all of it is known to be good before it is learned,
// and brings the table of producers to its end.
Result<bool> Persistence::verify_log(std::uint64_t frames) {
  if (writer_->durable_frames() == frames) return true;
  for (const bool last : {false, true}) {
    Arena arena(memory_.reader);
    std::size_t segment = kNoSegment;
    Result<LogReader> reader = LogReader::open(*folder_, frames, arena, &segment);
    if (!reader.ok()) {
      return report_.fail_in_log("the log after the newest checkpoint is not there", reader.error(),
                                 segment);
    }
    if (last) {
      replay_.begin(*folder_, std::move(reader.value()), frames);
      return true;
    }
    LoggedFrame frame;
    std::span<const std::byte> payload;
    Status status = Status::kOk;
    while (ok(status = reader.value().next(frame, payload))) {
      // The table runs ahead of the engine; no rows are taken before these have been learned.
      if (frame.producer != 0 && !ok(producers_.set(frame.producer, frame.next))) {
        return too_many_producers(report_, producers_);
      }
    }
    if (status != Status::kClosed) {
      return report_.fail_in_log("the log cannot be read", reader.value().error(),
                                 reader.value().segment());
    }
    if (reader.value().next_frame() != writer_->durable_frames()) {
      return report_.fail({}, "the log ends elsewhere for its reader than for its writer");
    }
  }
  return true;
}

}  // namespace windhover
