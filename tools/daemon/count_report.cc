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
  RuntimeCounter runtime = RuntimeCounter::kCount;  // kCount: another one counts
  IoCounter io = IoCounter::kCount;
  HttpCounter http = HttpCounter::kCount;
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
    {.key = "malformed", .http = HttpCounter::kMalformed},
};
constexpr Counted kConnectionCounts[] = {
    {.key = "no_session_free", .io = IoCounter::kConnectionsRefused},
    {.key = "accept_errors", .io = IoCounter::kAcceptErrors},
    {.key = "timeouts", .io = IoCounter::kTimeouts},
    {.key = "wait_timeouts", .io = IoCounter::kWaitTimeouts},
    {.key = "tls_failures", .io = IoCounter::kTlsFailures},
    {.key = "tls_timeouts", .io = IoCounter::kTlsTimeouts},
    {.key = "tls_no_memory", .io = IoCounter::kTlsRefused},
    {.key = "no_place_free", .http = HttpCounter::kConnectionsRefused},
    {.key = "timeouts", .http = HttpCounter::kTimeouts},
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
    {.key = "over_limits", .http = HttpCounter::kOverLimits},
};
constexpr Counted kFaultCounts[] = {
    {.key = "endpoint", .io = IoCounter::kEndpointFaults},
    {.key = "socket", .io = IoCounter::kSocketErrors},
    {.key = "heap_fallbacks", .io = IoCounter::kHandlerHeapFallbacks},
    {.key = "factorization", .runtime = RuntimeCounter::kFactorizationFailures},
    {.key = "exceptions", .http = HttpCounter::kExceptions},
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

// How many there have been since the last line.
template <class Id, class Said>
std::uint64_t since(const Counters<Id>* counters, Id id, Said& said) noexcept {
  if (counters == nullptr || id == Id::kCount) return 0;
  const std::uint64_t now = counters->get(id);
  return now - std::exchange(said[static_cast<std::size_t>(id)], now);
}

// Counts from before are not reported.
template <class Id, class Said>
void begin(const Counters<Id>* counters, Said& said) noexcept {
  for (std::size_t i = 0; counters != nullptr && i < said.size(); ++i) {
    said[i] = counters->get(static_cast<Id>(i));
  }
}

}  // namespace

CountReport::CountReport(std::string_view model, const Counters<RuntimeCounter>* runtime,
                         const Counters<IoCounter>* io, const Counters<HttpCounter>* http,
                         DaemonLog& log) noexcept
    : model_(model), runtime_(runtime), io_(io), http_(http), log_(log) {
  begin(runtime, runtime_said_);
  begin(io, io_said_);
  begin(http, http_said_);
  not_before_ns_.fill(std::numeric_limits<std::int64_t>::min());
}

CountReport::CountReport(const Counters<IoCounter>& io, DaemonLog& log) noexcept
    : CountReport({}, nullptr, &io, nullptr, log) {}

CountReport::CountReport(const Counters<HttpCounter>& http, DaemonLog& log) noexcept
    : CountReport({}, nullptr, nullptr, &http, log) {}

CountReport::CountReport(std::string_view model, const Counters<RuntimeCounter>& runtime,
                         DaemonLog& log) noexcept
    : CountReport(model, &runtime, nullptr, nullptr, log) {}

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
  if (http_ != nullptr) line.add("endpoint", "http");
  bool news = false;
  for (const Counted& counted : of.counted) {
    const std::uint64_t count = since(runtime_, counted.runtime, runtime_said_) +
                                since(io_, counted.io, io_said_) +
                                since(http_, counted.http, http_said_);
    if (count == 0) continue;
    line.add(counted.key, count);
    news = true;
  }
  if (news) log_.write(line);
  return news;
}

}  // namespace windhover
