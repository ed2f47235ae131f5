#include "windhover/tools/daemon/keeping_report.h"

#include <cstring>
#include <utility>

namespace windhover {
namespace {

// Adds the system's words for an errno. Not strerror(), which may translate them and call the heap.
void add_words(LogLine& line, int number) noexcept {
  const char* words = number != 0 ? strerrordesc_np(number) : nullptr;
  if (words != nullptr) line.add("error", words);
}

void add_error(LogLine& line, Status status, int number) noexcept {
  line.add("status", to_string(status));
  add_words(line, number);
}

}  // namespace

void tell_checkpoint_failed(DaemonLog& out, std::string_view model, std::uint64_t failures,
                            Status status, const CheckpointProgress& checkpoints) noexcept {
  LogLine line = out.line(LogLevel::kError, "checkpoint_failed");
  line.add("model", model).add("failures", failures);
  // kOk: a checkpoint has been taken since, and why the others failed is no longer known.
  if (!ok(status)) add_error(line, status, checkpoints.error_number.load());
  out.write(line.add("newest_rows", checkpoints.head.load()));
}

KeepingReport::KeepingReport(std::string_view model, const LogProgress& log,
                             const CheckpointProgress& checkpoints, DaemonLog& out) noexcept
    : model_(model),
      log_(log),
      checkpoints_(checkpoints),
      out_(out),
      log_failures_(log.failures.load()),
      seal_failures_(log.seal_failures.load()),
      checkpoint_failures_(checkpoints.failures.load()),
      taken_(checkpoints.taken.load()) {}

void KeepingReport::look(std::int64_t now_ns) noexcept {
  look_at_log(now_ns);
  look_at_room(now_ns);
  look_at_seals(now_ns);
  look_at_checkpoints(now_ns);
}

void KeepingReport::look_at_log(std::int64_t now_ns) noexcept {
  const std::uint64_t failures = log_.failures.load();
  const Status status = log_.status.load();
  if (failures != log_failures_ && failing_.allow(now_ns)) {
    LogLine line = out_.line(LogLevel::kError, "log_commit_failed");
    line.add("model", model_).add("failures", failures - std::exchange(log_failures_, failures));
    add_error(line, status, log_.error_number.load());
    out_.write(line.add("durable_rows", log_.durable_head.load()));
    log_fails_ = true;
  }
  if (!log_fails_ || !ok(status) || failures != log_failures_) return;
  log_fails_ = false;
  LogLine line = out_.line(LogLevel::kInfo, "log_commits_again");
  out_.write(line.add("model", model_).add("durable_rows", log_.durable_head.load()));
}

// Senders wait meanwhile. Checkpoints that fail have lines of their own.
void KeepingReport::look_at_room(std::int64_t now_ns) noexcept {
  const bool full = log_.full.load();
  if (full == log_is_full_ || !filling_.allow(now_ns)) return;
  log_is_full_ = full;
  LogLine line =
      full ? out_.line(LogLevel::kError, "log_full") : out_.line(LogLevel::kInfo, "log_has_room");
  line.add("model", model_).add("used_bytes", log_.used_bytes.load());
  out_.write(line.add("durable_rows", log_.durable_head.load()));
}

void KeepingReport::look_at_seals(std::int64_t now_ns) noexcept {
  const std::uint64_t failures = log_.seal_failures.load();
  if (failures == seal_failures_ || !sealing_.allow(now_ns)) return;
  LogLine line = out_.line(LogLevel::kWarning, "log_end_not_marked");
  line.add("model", model_).add("failures", failures - std::exchange(seal_failures_, failures));
  add_words(line, log_.seal_error_number.load());
  out_.write(line.add("durable_rows", log_.durable_head.load()));
}

void KeepingReport::look_at_checkpoints(std::int64_t now_ns) noexcept {
  const std::uint64_t failures = checkpoints_.failures.load();
  const std::uint64_t taken = checkpoints_.taken.load();
  if (failures == checkpoint_failures_ && taken == taken_) return;
  if (!taking_.allow(now_ns)) return;
  if (failures != checkpoint_failures_) {
    tell_checkpoint_failed(out_, model_, failures - std::exchange(checkpoint_failures_, failures),
                           checkpoints_.status.load(), checkpoints_);
  }
  if (taken != taken_) {
    LogLine line = out_.line(LogLevel::kInfo, "checkpoint_taken");
    line.add("model", model_).add("taken", taken - std::exchange(taken_, taken));
    line.add("rows", checkpoints_.head.load());
    out_.write(line.add("ms", checkpoints_.lasted_ns.load() / 1'000'000));
  }
}

}  // namespace windhover
