#include "windhover/tools/kept/kept_log.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "windhover/io/durable/error_text.h"
#include "windhover/tools/kept/kept_text.h"

namespace windhover {
namespace {

constexpr int kLooks = 5;
constexpr std::chrono::milliseconds kBetweenLooks{20};

}  // namespace

KeptLog::KeptLog(KeptFolder& folder, const LogIdentity& identity, std::optional<std::uint64_t> from)
    : folder_(folder), identity_(identity), block_(LogReader::footprint(identity.options)) {
  if (!block_.valid()) throw RunError("there is no memory to read the log with");
  std::uint64_t first = from.value_or(identity.first_frame);
  Error error;
  for (int look = 0; look < kLooks; ++look) {
    error = reopen(first);
    if (ok(error.status)) return;
    // The daemon may release the oldest frame meanwhile.
    const bool older = error.number > static_cast<double>(first);
    if (error.status == Status::kUnavailable && older && !from) {
      first = static_cast<std::uint64_t>(error.number);
    } else if (error.status != Status::kMalformed) {
      break;
    } else {
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }
  fail(error, first);
}

Error KeptLog::reopen(std::uint64_t from) {
  reader_.reset();
  Arena arena(block_.bytes());
  Result<LogReader> reader = LogReader::open(folder_.folder(), from, arena, &segment_);
  if (!reader.ok()) return reader.error();
  reader_.emplace(std::move(reader).value());
  return {};
}

bool KeptLog::next(LoggedFrame& frame, std::span<const std::byte>& payload) {
  for (int look = 1;; ++look) {
    const Status status = reader_->next(frame, payload);
    if (ok(status)) {
      rows_ = frame.head + frame.accepted;
      return true;
    }
    if (status == Status::kClosed) return false;
    const std::uint64_t at = reader_->next_frame();
    Error error = reader_->error();
    segment_ = reader_->segment();
    if (status != Status::kMalformed) fail(error, at);
    std::string text = damage_text(error);
    if (rows_) text += fmt::format("; all before row {} is good", grouped(*rows_));
    if (look == kLooks) throw LogDamaged(text, at);
    std::this_thread::sleep_for(kBetweenLooks);
    error = reopen(at);
    if (error.status == Status::kMalformed) throw LogDamaged(text, at);
    if (!ok(error.status)) fail(error, at);
  }
}

std::string KeptLog::damage_text(const Error& error) const {
  return fmt::format("{}/{}: {}", folder_.path(), log_place(segment_, error), error_text(error));
}

void KeptLog::fail(const Error& error, std::uint64_t frame) const {
  if (error.status == Status::kMalformed && segment_ != kNoSegment) {
    throw LogDamaged(damage_text(error), frame);
  }
  const std::string text = folder_.sentence("the log cannot be read", error);
  if (error.status == Status::kUnavailable && error.number > static_cast<double>(frame)) {
    throw LogMovedOn(text);
  }
  throw RunError(text);
}

}  // namespace windhover
