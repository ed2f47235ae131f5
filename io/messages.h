// Requests as the codec reads them. Plain structures; arrays point into the frame they were read
// from, at any alignment, and live as long as it does. The fields are explained in windhover.proto.
#ifndef WINDHOVER_IO_MESSAGES_H_
#define WINDHOVER_IO_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "windhover/runtime/observation.h"

namespace windhover {

inline constexpr std::uint32_t kProtocolVersion = 1;

// `count` little-endian elements.
struct PackedArray {
  const std::byte* data = nullptr;
  std::size_t count = 0;
};

// The texts of one repeated field, between which other fields may lie: read_keys() finds them
// again.
struct KeyList {
  std::string_view first;
  const char* end = nullptr;  // where the last one ends
  std::size_t count = 0;
};

enum class RequestKind : std::uint8_t {
  kUnknown,  // no body, or one that this version does not know
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
  kOutcome,
  kListEvents,
};

constexpr bool brings_rows(RequestKind kind) noexcept {
  return kind == RequestKind::kObserve || kind == RequestKind::kOutcome;
}

// What an acknowledgement stands for. The numbers of windhover.v1.Durability.
enum class Durability : std::uint8_t {
  kUnspecified = 0,  // in a request: whatever the server offers
  kMemory = 1,       // the rows are in the server's memory
  kLogged = 2,       // the rows, and where their producer stands, are on its disk
};

struct HelloRequest {
  std::uint32_t version_min = 0;
  std::uint32_t version_max = 0;
  std::uint64_t model_fingerprint = 0;
  std::uint32_t durability = 0;  // a Durability, or one of a later version
  std::string_view model;        // ASCII, within the frame; empty: the first
  std::string_view token;        // a secret; likewise; empty: none
};

struct ObserveRequest {
  std::uint64_t producer = 0;
  std::uint64_t first_sequence = 0;
  bool begins_here = false;
  ObservationBatch batch;  // its arrays agree with its rows; first_row is 0
};

struct PredictQuery {
  std::uint32_t rows = 0;
  Scalar scalar = Scalar::kFloat64;  // how features are sent
  PackedArray features;
  PackedArray indices;   // uint32
  PackedArray row_ends;  // uint32
  PackedArray quantile_probabilities;
  PackedArray thresholds;
  PackedArray outcomes;
  PackedArray offsets;
  PackedArray trials;
  KeyList keys;  // one a row, or none
  double interval_probability = 0.9;
  std::uint64_t thompson_id = 0;
  bool posterior_spread = false;
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

struct ListEventsQuery {
  std::uint64_t after = 0;
};

// The numbers of windhover.v1.PauseChange.
enum class PauseChange : std::uint8_t { kNone = 0, kPause = 1, kGoOn = 2 };

struct ChangeModelQuery {
  std::string_view answered_by;  // ASCII, within the frame; empty: no change
  std::uint32_t pause = 0;       // a PauseChange, or one of a later version
};

// The numbers of windhover.v1.HostAction.
enum class HostAction : std::uint8_t { kNone = 0, kAdd = 1, kReplace = 2, kRemove = 3 };

struct HostModelQuery {
  static constexpr std::size_t kMostConfiguration = 16'384;
  std::uint32_t action = 0;        // a HostAction, or one of a later version
  std::string_view name;           // ASCII, within the frame
  std::string_view configuration;  // likewise
  bool delete_data = false;
  std::uint64_t request = 0;
};

struct OutcomeQuery {
  KeyList keys;
  PackedArray targets;  // double, one a key
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
  OutcomeQuery outcome;
  ListEventsQuery list_events;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_MESSAGES_H_
