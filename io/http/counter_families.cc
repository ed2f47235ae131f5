#include "windhover/io/http/counter_families.h"

#include <array>
#include <string_view>

namespace windhover {
namespace {

template <class Enum, std::size_t kSize>
consteval bool in_order(const std::array<CounterFamily<Enum>, kSize>& families) {
  if (kSize != static_cast<std::size_t>(Enum::kCount)) return false;
  for (std::size_t i = 0; i < kSize; ++i) {
    const bool first =
        i == 0 || std::string_view(families[i].name) != std::string_view(families[i - 1].name);
    if (families[i].counter != static_cast<Enum>(i)) return false;
    if (first == std::string_view(families[i].help).empty()) return false;
  }
  return true;
}

using Io = IoCounter;
constexpr std::array<CounterFamily<Io>, static_cast<std::size_t>(Io::kCount)> kIo = {{
    {Io::kConnectionsAccepted, "connections", "outcome", "accepted",
     "Connections to the observe and query endpoints; refused: max_sessions were open."},
    {Io::kConnectionsRefused, "connections", "outcome", "refused", ""},
    {Io::kOperatorConnections, "operator_connections", "", "",
     "Of the accepted connections, those on the places kept for Status and for an admin when "
     "max_sessions were open."},
    {Io::kStrangersLetGo, "strangers_let_go", "", "",
     "Connections, HTTP's included, closed before anybody was known at them because others came "
     "when all places were taken."},
    {Io::kPlacesRefused, "places_refused", "", "",
     "Hellos refused because their identity has as many connections as it may."},
    {Io::kConnectionsClosed, "connections_closed", "", "",
     "Connections closed, by either side, in order or not."},
    {Io::kAcceptErrors, "accept_errors", "", "",
     "Failures to accept a connection, each followed by a pause."},
    {Io::kAcceptWaits, "accept_waits", "", "",
     "Times a listener let new connections wait, because they came faster than 1,000 a second."},
    {Io::kTimeouts, "session_timeouts", "", "",
     "Sessions freed because the peer was silent, too slow, or did not read."},
    {Io::kWaitTimeouts, "session_wait_timeouts", "", "",
     "Sessions refused because the window stayed full, or the log did not go on, for "
     "wait_timeout."},
    {Io::kMalformedFrames, "frames_malformed", "", "",
     "Frames that are no request; each closes its connection."},
    {Io::kOversizedFrames, "frames_oversized", "", "",
     "Frames above frame_cap; each closes its connection."},
    {Io::kHelloMissing, "hellos_missing", "", "",
     "Connections that sent something else before Hello; each is closed."},
    {Io::kHelloRefused, "hellos_refused", "", "",
     "Hellos that were refused, as of another version, model or fingerprint; each closes its "
     "connection."},
    {Io::kUnsupportedRequests, "requests_unsupported", "", "",
     "Requests that this version or this endpoint does not know."},
    {Io::kNotPermitted, "requests_not_permitted", "", "",
     "Hellos and requests of peers without the role for it, HTTP's included."},
    {Io::kFrames, "frames", "", "", "Requests read, whatever became of them."},
    {Io::kBytesReceived, "received_bytes", "", "", "Bytes received by both endpoints."},
    {Io::kBytesSent, "sent_bytes", "", "", "Bytes sent by both endpoints."},
    {Io::kRowsReceived, "rows_received", "", "",
     "Rows received since the start: accepted, refused and duplicate together."},
    {Io::kRowsAccepted, "rows", "outcome", "accepted",
     "Rows received since the start, by what became of them."},
    {Io::kRowsRefused, "rows", "outcome", "refused", ""},
    {Io::kRowsDuplicate, "rows", "outcome", "duplicate", ""},
    {Io::kFramesRefusedGap, "frames_refused", "reason", "gap",
     "Frames of rows refused as a whole: rows before them are missing, their producer is busy, "
     "unknown or one too many of a connection's, or there is no room for it in the table of "
     "producers, or in its identity's share of it."},
    {Io::kFramesRefusedProducer, "frames_refused", "reason", "producer", ""},
    {Io::kFramesRefusedTableFull, "frames_refused", "reason", "table_full", ""},
    {Io::kFramesRefusedShareFull, "frames_refused", "reason", "share_full", ""},
    {Io::kProducersTakenOver, "producers_taken_over", "", "",
     "Producers silent for producer_timeout and then spoken for by another connection."},
    {Io::kProducersForgotten, "producers_forgotten", "", "",
     "Producers that were drawn for one stream and made room for others: the table is full."},
    {Io::kWindowFullWaits, "window_full_waits", "", "",
     "Frames that waited because the window was full: the learner is behind."},
    {Io::kLogBehindWaits, "log_behind_waits", "", "",
     "Frames that waited because the log, or recovery, was behind."},
    {Io::kLimitWaits, "limit_waits", "", "",
     "Times that a connection was not read because it was over server.limits."},
    {Io::kTurnPauses, "turn_pauses", "", "",
     "Pauses of those who ask much, because processors are short and others ask little."},
    {Io::kAcknowledgements, "acknowledgements", "", "", "Acknowledgements of rows sent."},
    {Io::kQueries, "queries", "", "", "Questions answered or refused, HTTP's included."},
    {Io::kQueriesRefused, "queries_refused", "", "", "Questions refused, HTTP's included."},
    {Io::kWriteStalls, "write_stalls", "", "", "Times that a peer's socket was full."},
    {Io::kSocketErrors, "socket_errors", "", "", "Errors of sockets."},
    {Io::kTlsHandshakes, "tls_handshakes", "outcome", "done",
     "Handshakes of TLS, HTTP's included, by what became of them; failed: also records after one; "
     "refused: OpenSSL's memory had no room."},
    {Io::kTlsFailures, "tls_handshakes", "outcome", "failed", ""},
    {Io::kTlsTimeouts, "tls_handshakes", "outcome", "timed_out", ""},
    {Io::kTlsRefused, "tls_handshakes", "outcome", "refused", ""},
    {Io::kEndpointFaults, "endpoint_faults", "", "",
     "Times that an endpoint's loop was left by an exception, and begun again."},
    {Io::kHandlerHeapFallbacks, "handler_heap_fallbacks", "", "",
     "Heap calls where there should be none; 0 in order."},
}};
static_assert(in_order(kIo));

using Runtime = RuntimeCounter;
constexpr std::array<CounterFamily<Runtime>, static_cast<std::size_t>(Runtime::kCount)> kRuntime = {
    {
        {Runtime::kRowsAccepted, "engine_rows_accepted", "", "",
         "Rows that the engine took in; with a folder counted over restarts."},
        {Runtime::kRowsRefusedDimension, "engine_rows_refused", "reason", "dimension",
         "Rows that the engine refused, by what is wrong with them."},
        {Runtime::kRowsRefusedNotFinite, "engine_rows_refused", "reason", "not_finite", ""},
        {Runtime::kRowsRefusedTarget, "engine_rows_refused", "reason", "target", ""},
        {Runtime::kRowsRefusedSparse, "engine_rows_refused", "reason", "sparse", ""},
        {Runtime::kRowsRefusedOffset, "engine_rows_refused", "reason", "offset", ""},
        {Runtime::kRowsRefusedWeight, "engine_rows_refused", "reason", "weight", ""},
        {Runtime::kRowsRefusedTrials, "engine_rows_refused", "reason", "trials", ""},
        {Runtime::kRowsSetAside, "engine_rows_set_aside", "", "",
         "Rows that the posterior does not stand on: without a window each would outweigh all "
         "before it, with engine.surprising_rows = set-aside it was far from what was predicted."},
        {Runtime::kRowsSurprising, "engine_rows_surprising", "", "",
         "Rows far from what was predicted, whatever became of them; with "
         "engine.surprising_rows."},
        {Runtime::kRowsDownWeighted, "engine_rows_down_weighted", "", "",
         "Rows that count for less than they came with, because they were far from what was "
         "predicted."},
        {Runtime::kBatchesRefused, "engine_batches_refused", "", "", "Batches refused as a whole."},
        {Runtime::kWindowFull, "engine_window_full", "", "", "Times that the window had no room."},
        {Runtime::kSteps, "engine_steps", "", "", "Steps of the sampler, of all chains together."},
        {Runtime::kExamples, "engine_examples", "", "", "Rows drawn into minibatches."},
        {Runtime::kDivergences, "engine_divergences", "", "",
         "Chains that were lost and started again."},
        {Runtime::kFactorizationFailures, "engine_factorization_failures", "", "",
         "Matrices that were not positive definite."},
        {Runtime::kRefreshes, "engine_refreshes", "", "", "Refreshes of the preconditioner."},
        {Runtime::kPasses, "engine_passes", "", "", "Passes over the window."},
        {Runtime::kResizes, "engine_resizes", "", "",
         "Times that an adaptive horizon chose another number of rows."},
        {Runtime::kColdStarts, "engine_cold_starts", "", "", "Cold starts."},
        {Runtime::kSnapshots, "engine_snapshots", "", "", "Snapshots published."},
        {Runtime::kPredictions, "engine_predictions", "", "", "Rows predicted."},
        {Runtime::kPredictionsRefused, "engine_predictions_refused", "", "",
         "Questions that the engine refused."},
        {Runtime::kLabelsKept, "labels", "event", "kept",
         "Keys of rows asked about: kept (replaced: in place of a pending one), not kept because "
         "the table was full, joined with their outcome, timed out; and outcomes of keys joined "
         "before, unknown, or too late."},
        {Runtime::kLabelsReplaced, "labels", "event", "replaced", ""},
        {Runtime::kLabelsTableFull, "labels", "event", "table_full", ""},
        {Runtime::kLabelsJoined, "labels", "event", "joined", ""},
        {Runtime::kLabelsTimedOut, "labels", "event", "timed_out", ""},
        {Runtime::kLabelsDuplicate, "labels", "event", "duplicate", ""},
        {Runtime::kLabelsUnknown, "labels", "event", "unknown", ""},
        {Runtime::kLabelsLate, "labels", "event", "late", ""},
    }};
static_assert(in_order(kRuntime));

using Http = HttpCounter;
constexpr std::array<CounterFamily<Http>, static_cast<std::size_t>(Http::kCount)> kHttp = {{
    {Http::kConnectionsAccepted, "http_connections", "outcome", "accepted",
     "Connections to the HTTP listener; refused: max_connections were open."},
    {Http::kConnectionsRefused, "http_connections", "outcome", "refused", ""},
    {Http::kTimeouts, "http_timeouts", "", "",
     "HTTP connections closed because a request or an answer took too long."},
    {Http::kMalformed, "http_malformed", "", "",
     "Bytes that are no HTTP request, or one too large; each closes its connection."},
    {Http::kRequests, "http_requests", "", "", "HTTP requests read whole."},
    {Http::kAnswersOk, "http_answers", "class", "2xx", "HTTP answers by class of status."},
    {Http::kAnswersClientError, "http_answers", "class", "4xx", ""},
    {Http::kAnswersServerError, "http_answers", "class", "5xx", ""},
    {Http::kOverLimits, "http_limit_refusals", "", "",
     "HTTP requests answered 429, because who asked was over its limits."},
    {Http::kExceptions, "http_exceptions", "", "",
     "HTTP connections closed by an exception: no memory, as a rule."},
}};
static_assert(in_order(kHttp));

}  // namespace

std::span<const CounterFamily<IoCounter>> io_counter_families() noexcept { return kIo; }
std::span<const CounterFamily<RuntimeCounter>> runtime_counter_families() noexcept {
  return kRuntime;
}
std::span<const CounterFamily<HttpCounter>> http_counter_families() noexcept { return kHttp; }

}  // namespace windhover
