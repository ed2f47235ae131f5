// Responses as the codec writes them. Plain structures. The fields are explained in
// windhover.proto.
#ifndef WINDHOVER_IO_REPLIES_H_
#define WINDHOVER_IO_REPLIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/io/messages.h"
#include "windhover/io/refusal.h"
#include "windhover/platform/status.h"
#include "windhover/runtime/diagnostics/event_log.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/runtime/scoring/prediction_scores.h"

namespace windhover {

enum class ModelKind : std::uint8_t {
  kOther = 0,
  kLinear = 1,
  kLogistic = 2,
  kPoisson = 3,
  kStudentT = 4,
  kSoftmax = 5,
  kNegativeBinomial = 6,
  kLogNormal = 7,
  kBinomial = 8,
  kZeroInflatedPoisson = 9,
  kHeteroscedastic = 10,
};

struct WelcomeReply {
  std::uint32_t version = kProtocolVersion;
  std::uint32_t features = 0;
  std::uint32_t dimension = 0;
  std::uint32_t frame_cap = 0;
  std::uint32_t reply_cap = 0;
  std::uint32_t max_rows = 0;
  std::uint32_t max_nonzeros = 0;
  std::uint32_t max_query_rows = 0;
  std::uint64_t head = 0;
  std::uint64_t fingerprint = 0;
  ModelKind model = ModelKind::kOther;
  bool observes = false;
  std::uint32_t max_quantiles = kMaxQuantiles;
  std::uint32_t max_thresholds = kMaxThresholds;
  std::uint32_t classes = 0;
  std::uint64_t instance_id = 0;
  Durability durability = Durability::kMemory;
  std::uint64_t durable_through = 0;
  std::uint32_t max_producers = 0;
  std::uint64_t forgotten = 0;
  bool forgets_drawn = false;
  std::uint64_t start_id = 0;
  std::string_view model_name;
  bool takes_offsets = false;
  bool takes_weights = false;
  bool takes_keys = false;
  bool takes_trials = false;
  bool network = false;
  std::uint64_t schema_fingerprint = 0;
};

// The answer to an Observe or an Outcome. Acknowledgements of one producer's Observes merge while
// the peer does not read, so the list of refused rows is bounded.
struct ObserveAckReply {
  static constexpr std::size_t kMaxListed = 64;
  static constexpr std::uint32_t kWholeFrame = UINT32_MAX;
  struct Refused {
    std::uint64_t request = 0;
    std::uint32_t row = 0;
    Status reason = Status::kOk;
  };
  std::uint64_t id = 0;  // id of the newest Observe that it covers
  std::uint64_t producer = 0;
  std::uint64_t producer_next = 0;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t head = 0;
  std::uint64_t durable_through = 0;
  std::uint32_t frames = 0;
  std::uint32_t listed_count = 0;
  bool of_outcome = false;
  std::array<Refused, kMaxListed> listed;

  std::span<const Refused> refused_rows() const noexcept { return {listed.data(), listed_count}; }
};

struct PredictReply {
  const Provenance* provenance = nullptr;
  std::span<const PredictiveSummary> summaries;
  std::size_t quantiles = 0;   // how many were asked for
  std::size_t thresholds = 0;  // likewise
};

struct PosteriorReply {
  const Provenance* provenance = nullptr;
  std::span<const ParameterSummary> parameters;
};

struct DrawsReply {
  const Provenance* provenance = nullptr;
  std::uint32_t dimension = 0;
  std::uint32_t first = 0;
  std::span<const double> theta;
};

struct CounterValue {
  const char* label = "";
  std::uint64_t value = 0;
};

struct LatencyReply {
  std::uint64_t count = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t p999_ns = 0;
  std::int64_t max_ns = 0;
};

struct DurableReply {
  bool keeps_folder = false;
  Durability durability = Durability::kMemory;
  std::uint64_t instance_id = 0;
  std::uint64_t durable_through = 0;
  std::uint64_t recovering_through = 0;
  std::uint64_t log_used_bytes = 0;
  std::uint64_t log_capacity_bytes = 0;
  std::uint64_t commits = 0;
  std::uint64_t log_failures = 0;
  Status log_status = Status::kOk;
  int log_errno = 0;
  std::uint64_t checkpoints_taken = 0;
  std::uint64_t checkpoint_failures = 0;
  std::uint64_t checkpoint_head = 0;
  std::int64_t checkpoint_age_ns = -1;
  std::int64_t checkpoint_lasted_ns = 0;
  Status checkpoint_status = Status::kOk;
  int checkpoint_errno = 0;
  std::uint64_t producers_known = 0;
  std::uint64_t log_seal_failures = 0;
};

struct ScoresReply {
  bool any = false;
  PredictionScores scores;
};

struct StatusReply {
  const Provenance* provenance = nullptr;
  std::uint64_t head = 0;
  std::uint64_t uptime_ns = 0;
  std::uint32_t observe_sessions = 0;
  std::uint32_t query_sessions = 0;
  std::uint64_t footprint_bytes = 0;
  std::uint64_t resident_bytes = 0;
  std::span<const CounterValue> runtime_counters;
  std::span<const CounterValue> io_counters;
  LatencyReply observe_latency;
  LatencyReply query_latency;
  DurableReply durable;
  ScoresReply scores;
  std::uint64_t pending_keys = 0;
};

struct ProducerStatusReply {
  std::uint64_t producer = 0;
  bool known = false;
  std::uint64_t next = 0;
  std::uint64_t durable_next = 0;
  bool live = false;
  std::uint64_t forgotten = 0;
};

struct TakeCheckpointReply {
  std::uint64_t request = 0;
  bool answered = false;
  std::uint64_t taken = 0;
  Status status = Status::kOk;
};

struct ModelStateReply {
  std::string_view name;
  ModelKind model = ModelKind::kOther;
  std::uint32_t features = 0;
  std::uint32_t dimension = 0;
  std::uint64_t fingerprint = 0;
  std::uint64_t head = 0;
  Provenance provenance;
  std::string_view follows;  // empty: none
  std::string_view answered_by;
  bool paused = false;
  ScoresReply scores;
  Status log_status = Status::kOk;
};

struct ListModelsReply {
  static constexpr std::size_t kMostStates = 8;
  std::uint32_t models = 0;
  std::uint32_t first = 0;
  std::span<const ModelStateReply> states;
};

struct ListEventsReply {
  std::span<const Event> events;
};

struct ChangeModelReply {
  const ModelStateReply* state = nullptr;
};

struct HostModelReply {
  static constexpr std::size_t kMostError = 600;
  std::uint64_t request = 0;
  bool finished = false;
  Status status = Status::kOk;
  std::string_view error;  // ASCII
  std::uint64_t needed_bytes = 0;
  std::uint64_t free_bytes = 0;
};

struct RefusalReply {
  Refusal reason = Refusal::kNone;
  std::uint64_t number = 0;
  bool closing = false;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_REPLIES_H_
