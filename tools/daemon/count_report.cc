#include "windhover/tools/daemon/count_report.h"

#include <chrono>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

namespace windhover {
namespace {

struct Counted {
  const char* key;
  RuntimeCounter runtime = RuntimeCounter::kCount;  // kCount: the other one counts
  IoCounter io = IoCounter::kCount;
};

constexpr Counted kRowCounts[] = {
    {.key = "rows", .io = IoCounter::kRowsRefused},
    {.key = "dimension", .runtime = RuntimeCounter::kRowsRefusedDimension},
    {.key = "not_finite", .runtime = RuntimeCounter::kRowsRefusedNotFinite},
    {.key = "target", .runtime = RuntimeCounter::kRowsRefusedTarget},
    {.key = "sparse", .runtime = RuntimeCounter::kRowsRefusedSparse},
    {.key = "offset", .runtime = RuntimeCounter::kRowsRefusedOffset},
    {.key = "unknown_key", .runtime = RuntimeCounter::kLabelsUnknown},
    {.key = "late_key", .runtime = RuntimeCounter::kLabelsLate},
    {.key = "weight", .runtime = RuntimeCounter::kRowsRefusedWeight},
    {.key = "trials", .runtime = RuntimeCounter::kRowsRefusedTrials},
    {.key = "frames_gap", .io = IoCounter::kFramesRefusedGap},
    {.key = "frames_producer", .io = IoCounter::kFramesRefusedProducer},
    {.key = "frames_table_full", .io = IoCounter::kFramesRefusedTableFull},
    {.key = "frames_share_full", .io = IoCounter::kFramesRefusedShareFull},
};
constexpr Counted kRequestCounts[] = {
    {.key = "malformed", .io = IoCounter::kMalformedFrames},
    {.key = "oversized", .io = IoCounter::kOversizedFrames},
    {.key = "hello_missing", .io = IoCounter::kHelloMissing},
    {.key = "hello_refused", .io = IoCounter::kHelloRefused},
    {.key = "unsupported", .io = IoCounter::kUnsupportedRequests},
    {.key = "not_permitted", .io = IoCounter::kNotPermitted},
    {.key = "questions", .io = IoCounter::kQueriesRefused},
};
constexpr Counted kConnectionCounts[] = {
    {.key = "no_session_free", .io = IoCounter::kConnectionsRefused},
    {.key = "accept_errors", .io = IoCounter::kAcceptErrors},
    {.key = "timeouts", .io = IoCounter::kTimeouts},
    {.key = "wait_timeouts", .io = IoCounter::kWaitTimeouts},
    {.key = "tls_failures", .io = IoCounter::kTlsFailures},
    {.key = "tls_timeouts", .io = IoCounter::kTlsTimeouts},
    {.key = "tls_no_memory", .io = IoCounter::kTlsRefused},
};
constexpr Counted kLimitCounts[] = {
    {.key = "window_full", .io = IoCounter::kWindowFullWaits},
    {.key = "labels_full", .runtime = RuntimeCounter::kLabelsTableFull},
    {.key = "log_behind", .io = IoCounter::kLogBehindWaits},
    {.key = "over_limits", .io = IoCounter::kLimitWaits},
    {.key = "gave_way", .io = IoCounter::kStrangersLetGo},
    {.key = "places", .io = IoCounter::kPlacesRefused},
    {.key = "connects_too_fast", .io = IoCounter::kAcceptWaits},
    {.key = "peer_does_not_read", .io = IoCounter::kWriteStalls},
    {.key = "producers_taken_over", .io = IoCounter::kProducersTakenOver},
};
constexpr Counted kFaultCounts[] = {
    {.key = "endpoint", .io = IoCounter::kEndpointFaults},
    {.key = "socket", .io = IoCounter::kSocketErrors},
    {.key = "heap_fallbacks", .io = IoCounter::kHandlerHeapFallbacks},
    {.key = "factorization", .runtime = RuntimeCounter::kFactorizationFailures},
};

using std::chrono::seconds;

constexpr struct {
  const char* event;
  LogLevel level;
  seconds pause;  // between two lines of it
  std::span<const Counted> counted;
} kCountedKinds[] = {
    {"rows_refused", LogLevel::kWarning, seconds(10), kRowCounts},
    {"requests_refused", LogLevel::kWarning, seconds(10), kRequestCounts},
    {"connections_refused", LogLevel::kWarning, seconds(10), kConnectionCounts},
    {"limits_hit", LogLevel::kInfo, seconds(60), kLimitCounts},
    {"faults", LogLevel::kError, seconds(10), kFaultCounts},
};

}  // namespace

CountReport::CountReport(std::string_view model, const Counters<RuntimeCounter>* runtime,
                         const Counters<IoCounter>* io, DaemonLog& log) noexcept
    : model_(model), runtime_(runtime), io_(io), log_(log) {
  for (std::size_t i = 0; runtime != nullptr && i < runtime_said_.size(); ++i) {
    runtime_said_[i] = runtime->get(static_cast<RuntimeCounter>(i));
  }
  for (std::size_t i = 0; io != nullptr && i < io_said_.size(); ++i) {
    io_said_[i] = io->get(static_cast<IoCounter>(i));
  }
  not_before_ns_.fill(std::numeric_limits<std::int64_t>::min());
}

CountReport::CountReport(const Counters<IoCounter>& io, DaemonLog& log) noexcept
    : CountReport({}, nullptr, &io, log) {}

CountReport::CountReport(std::string_view model, const Counters<RuntimeCounter>& runtime,
                         DaemonLog& log) noexcept
    : CountReport(model, &runtime, nullptr, log) {}

void CountReport::look(std::int64_t now_ns) noexcept {
  for (std::size_t k = 0; k < kKinds; ++k) {
    if (now_ns < not_before_ns_[k] || !log_kind(k)) continue;
    not_before_ns_[k] = now_ns + std::chrono::nanoseconds(kCountedKinds[k].pause).count();
  }
}

void CountReport::finish() noexcept {
  for (std::size_t k = 0; k < kKinds; ++k) log_kind(k);
}

// Returns whether there was anything to log.
bool CountReport::log_kind(std::size_t kind) noexcept {
  static_assert(std::size(kCountedKinds) == kKinds);
  const auto& of = kCountedKinds[kind];
  LogLine line = log_.line(of.level, of.event);
  if (!model_.empty()) line.add("model", model_);
  bool news = false;
  for (const Counted& counted : of.counted) {
    const bool runtime = counted.runtime != RuntimeCounter::kCount;
    if (runtime ? runtime_ == nullptr : io_ == nullptr) continue;
    std::uint64_t& said = runtime ? runtime_said_[static_cast<std::size_t>(counted.runtime)]
                                  : io_said_[static_cast<std::size_t>(counted.io)];
    const std::uint64_t now = runtime ? runtime_->get(counted.runtime) : io_->get(counted.io);
    const std::uint64_t since = now - std::exchange(said, now);
    if (since == 0) continue;
    line.add(counted.key, since);
    news = true;
  }
  if (news) log_.write(line);
  return news;
}

}  // namespace windhover
