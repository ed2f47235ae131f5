#include "windhover/tools/daemon/keeping_report.h"

#include <cstring>
#include <iterator>
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

// A disk that is bad has something new to tell of every kind at each look: the kind after the one
// told last is the next to be told.
void KeepingReport::look(std::int64_t now_ns) noexcept {
  using Tell = bool (KeepingReport::*)(std::int64_t) noexcept;
  static constexpr Tell kKinds[] = {
      &KeepingReport::tell_commits_fail,
      &KeepingReport::tell_commits_again,
      &KeepingReport::tell_room,
      &KeepingReport::tell_seals_fail,
      &KeepingReport::tell_checkpoints_failed,
      &KeepingReport::tell_checkpoints_taken,
  };
  const std::size_t first = next_kind_;
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    const std::size_t kind = (first + i) % std::size(kKinds);
    if ((this->*kKinds[kind])(now_ns)) next_kind_ = kind + 1;
  }
}

// Failures come before their end, whatever was told last.
void KeepingReport::finish() noexcept {
  finishing_ = true;
  next_kind_ = 0;
  look(0);
}

bool KeepingReport::tell_commits_fail(std::int64_t now_ns) noexcept {
  const std::uint64_t failures = log_.failures.load();
  if (failures == log_failures_ || !may_tell(lines_, now_ns)) return false;
  LogLine line = out_.line(LogLevel::kError, "log_commit_failed");
  line.add("model", model_).add("failures", failures - std::exchange(log_failures_, failures));
  add_error(line, log_.status.load(), log_.error_number.load());
  out_.write(line.add("durable_rows", log_.durable_head.load()));
  return log_fails_ = true;
}

bool KeepingReport::tell_commits_again(std::int64_t now_ns) noexcept {
  if (!log_fails_ || !ok(log_.status.load()) || log_.failures.load() != log_failures_) return false;
  if (!may_tell(lines_, now_ns)) return false;
  log_fails_ = false;
  LogLine line = out_.line(LogLevel::kInfo, "log_commits_again");
  out_.write(line.add("model", model_).add("durable_rows", log_.durable_head.load()));
  return true;
}

// Senders wait meanwhile. Checkpoints that fail have lines of their own.
bool KeepingReport::tell_room(std::int64_t now_ns) noexcept {
  const bool full = log_.full.load();
  if (full == log_is_full_ || !may_tell(lines_, now_ns)) return false;
  log_is_full_ = full;
  LogLine line =
      full ? out_.line(LogLevel::kError, "log_full") : out_.line(LogLevel::kInfo, "log_has_room");
  line.add("model", model_).add("used_bytes", log_.used_bytes.load());
  out_.write(line.add("durable_rows", log_.durable_head.load()));
  return true;
}

bool KeepingReport::tell_seals_fail(std::int64_t now_ns) noexcept {
  const std::uint64_t failures = log_.seal_failures.load();
  if (failures == seal_failures_ || !may_tell(lines_, now_ns)) return false;
  LogLine line = out_.line(LogLevel::kWarning, "log_end_not_marked");
  line.add("model", model_).add("failures", failures - std::exchange(seal_failures_, failures));
  add_words(line, log_.seal_error_number.load());
  out_.write(line.add("durable_rows", log_.durable_head.load()));
  return true;
}

bool KeepingReport::tell_checkpoints_failed(std::int64_t now_ns) noexcept {
  const std::uint64_t failures = checkpoints_.failures.load();
  if (failures == checkpoint_failures_ || !may_tell(lines_, now_ns)) return false;
  tell_checkpoint_failed(out_, model_, failures - std::exchange(checkpoint_failures_, failures),
                         checkpoints_.status.load(), checkpoints_);
  return true;
}

bool KeepingReport::tell_checkpoints_taken(std::int64_t now_ns) noexcept {
  const std::uint64_t taken = checkpoints_.taken.load();
  if (taken == taken_ || !may_tell(taken_lines_, now_ns)) return false;
  LogLine line = out_.line(LogLevel::kInfo, "checkpoint_taken");
  line.add("model", model_).add("taken", taken - std::exchange(taken_, taken));
  line.add("rows", checkpoints_.head.load());
  out_.write(line.add("ms", checkpoints_.lasted_ns.load() / 1'000'000));
  return true;
}

}  // namespace windhover
