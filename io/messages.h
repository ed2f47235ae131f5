// Requests as the codec reads them and responses as it writes them. Plain structures; arrays point
// into the frame they were read from, at any alignment, and live as long as it does. The fields are
// explained in windhover.proto.
#ifndef WINDHOVER_IO_MESSAGES_H_
#define WINDHOVER_IO_MESSAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/io/refusal.h"
#include "windhover/platform/status.h"
#include "windhover/runtime/observation.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/runtime/scoring/prediction_scores.h"

namespace windhover {

inline constexpr std::uint32_t kProtocolVersion = 1;

// `count` little-endian elements.
struct PackedArray {
  const std::byte* data = nullptr;
  std::size_t count = 0;
};

enum class RequestKind : std::uint8_t {
  kUnknown,  // no body that this version knows
  kHello,
  kObserve,
  kPredict,
  kPosteriorSummary,
  kDraws,
  kStatus,
  kProducerStatus,
  kTakeCheckpoint,
  kListModels,
  kChangeModel,
  kHostModel,
};

// What an acknowledgement stands for. The numbers of windhover.v1.Durability.
enum class Durability : std::uint8_t {
  kUnspecified = 0,  // of a request: whatever the server offers
  kMemory = 1,       // the rows are in the server's memory
  kLogged = 2,       // the rows, and where their producer stands, are on its disk
};

struct HelloRequest {
  std::uint32_t version_min = 0;
  std::uint32_t version_max = 0;
  std::uint64_t model_fingerprint = 0;
  std::uint32_t durability = 0;  // of Durability, or of a later version's
  std::string_view model;        // ASCII, within the frame; empty: the first
  std::string_view token;        // likewise; empty: none. A secret
};

struct ObserveRequest {
  std::uint64_t producer = 0;
  std::uint64_t first_sequence = 0;
  bool begins_here = false;
  ObservationBatch batch;  // its arrays agree with its rows; first_row is 0
};

struct PredictQuery {
  std::uint32_t rows = 0;
  Scalar scalar = Scalar::kFloat64;  // of features
  PackedArray features;
  PackedArray indices;   // uint32
  PackedArray row_ends;  // uint32
  PackedArray quantile_probabilities;
  PackedArray thresholds;
  PackedArray outcomes;
  PackedArray offsets;
  double interval_probability = 0.9;
  std::uint64_t thompson_id = 0;
};

struct DrawsQuery {
  std::uint64_t snapshot_id = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct ProducerStatusQuery {
  std::uint64_t producer = 0;
};

struct TakeCheckpointQuery {
  std::uint64_t request = 0;
};

struct ListModelsQuery {
  std::uint32_t first = 0;
};

// The numbers of windhover.v1.PauseChange.
enum class PauseChange : std::uint8_t { kNone = 0, kPause = 1, kGoOn = 2 };

struct ChangeModelQuery {
  std::string_view answered_by;  // ASCII, within the frame; empty: no change
  std::uint32_t pause = 0;       // of PauseChange, or of a later version's
};

// The numbers of windhover.v1.HostAction.
enum class HostAction : std::uint8_t { kNone = 0, kAdd = 1, kReplace = 2, kRemove = 3 };

struct HostModelQuery {
  static constexpr std::size_t kMostConfiguration = 16'384;
  std::uint32_t action = 0;        // of HostAction, or of a later version's
  std::string_view name;           // ASCII, within the frame
  std::string_view configuration;  // likewise
  bool delete_data = false;
  std::uint64_t request = 0;
};

// One request. Only the member that `kind` names means anything.
struct RequestView {
  std::uint64_t id = 0;
  RequestKind kind = RequestKind::kUnknown;
  HelloRequest hello;
  ObserveRequest observe;
  PredictQuery predict;
  DrawsQuery draws;
  ProducerStatusQuery producer_status;
  TakeCheckpointQuery take_checkpoint;
  ListModelsQuery list_models;
  ChangeModelQuery change_model;
  HostModelQuery host_model;
};

enum class ModelKind : std::uint8_t {
  kOther = 0,
  kLinear = 1,
  kLogistic = 2,
  kPoisson = 3,
  kStudentT = 4,
  kSoftmax = 5,
  kNegativeBinomial = 6,
  kLogNormal = 7,
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
  std::string_view model_name;
  bool takes_offsets = false;
};

// Those of one producer merge while the peer does not read, so the list of refused rows is bounded.
struct ObserveAckReply {
  static constexpr std::size_t kMaxListed = 64;
  static constexpr std::uint32_t kWholeFrame = UINT32_MAX;
  struct Refused {
    std::uint64_t request = 0;
    std::uint32_t row = 0;
    Status reason = Status::kOk;
  };
  std::uint64_t id = 0;  // of the newest Observe covered
  std::uint64_t producer = 0;
  std::uint64_t producer_next = 0;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t head = 0;
  std::uint64_t durable_through = 0;
  std::uint32_t frames = 0;
  std::uint32_t listed_count = 0;
  std::array<Refused, kMaxListed> listed;

  std::span<const Refused> refused_rows() const noexcept { return {listed.data(), listed_count}; }
};

struct PredictReply {
  const Provenance* provenance = nullptr;
  std::span<const PredictiveSummary> summaries;
  std::size_t quantiles = 0;   // how many of each summary's were asked for
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
};

struct ProducerStatusReply {
  std::uint64_t producer = 0;
  bool known = false;
  std::uint64_t next = 0;
  std::uint64_t durable_next = 0;
  bool live = false;
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
  std::string_view follows;  // empty: nobody
  std::string_view answered_by;
  bool paused = false;
  ScoresReply scores;
};

struct ListModelsReply {
  static constexpr std::size_t kMostStates = 8;
  std::uint32_t models = 0;
  std::uint32_t first = 0;
  std::span<const ModelStateReply> states;
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

#endif  // WINDHOVER_IO_MESSAGES_H_
