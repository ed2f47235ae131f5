// What a server knows of one of the models that it serves.
#ifndef WINDHOVER_IO_SERVED_MODEL_H_
#define WINDHOVER_IO_SERVED_MODEL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "windhover/io/durable/checkpoint_progress.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/io/producer_table.h"
#include "windhover/io/question_cost.h"
#include "windhover/io/replies.h"
#include "windhover/runtime/engine.h"

namespace windhover {

inline constexpr std::uint32_t kMostDescribed = 65'537;

// The sizes of a model's requests and answers, as its configuration fixes them.
struct ModelLimits {
  std::uint32_t features = 0;
  std::uint32_t dimension = 0;
  // Parameters that an answer can hold: all of them, or none where they are more than
  // kMostDescribed.
  std::uint32_t described = 0;
  std::uint32_t classes = 0;  // how many a model of classes has; otherwise 0
  std::uint32_t max_rows = 0;
  std::uint32_t max_nonzeros = 0;
  std::uint32_t max_query_rows = 0;
  std::uint32_t pending_keys = 0;  // that may wait for their outcome at one time
  std::uint32_t retained_draws = 0;
  std::uint32_t page_draws = 0;  // draws of one DrawsResult
  std::uint32_t reply_cap = 0;   // the largest answer, its prefix included
  QuestionCost cost;
};

// REQUIRES: check(engine) is ok.
ModelLimits limits_of(const EngineConfig& engine) noexcept;

// Whether it may be a model's name: 1 to 63 letters, digits, '_', '-' and '.', the first of them
// no '.': it is also the name of a folder.
bool is_model_name(std::string_view name) noexcept;
inline constexpr std::size_t kMaxModelName = 63;

// What the protocol calls a model of the registry.
ModelKind model_kind(std::string_view model) noexcept;

// The owner of the newest request that the server's HTTP has sent to the observe endpoint, where
// one is on its way at a time. The HTTP thread writes it before it sends the request.
class SenderOverHttp {
 public:
  void set(const ProducerOwner& owner) noexcept {
    most_.store(owner.most, std::memory_order_relaxed);
    identity_.store(owner.identity, std::memory_order_release);
  }
  ProducerOwner owner() const noexcept {
    const std::uint64_t identity = identity_.load(std::memory_order_acquire);
    return {identity, most_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<std::uint64_t> identity_{0};
  std::atomic<std::uint64_t> most_{0};
};

// A model's name; empty: none. No other thread may read it while it is set.
class ModelName {
 public:
  std::string_view text() const noexcept { return room_.data(); }
  // Set once. REQUIRES: is_model_name().
  void set(std::string_view name) noexcept { name.copy(room_.data(), kMaxModelName); }

 private:
  std::array<char, kMaxModelName + 1> room_{};
};

// Takes checkpoints of a model on request. Any thread.
class CheckpointKeeper {
 public:
  using Request = std::uint64_t (*)(void* keeper) noexcept;

  CheckpointKeeper() = default;
  CheckpointKeeper(Request how, void* keeper) noexcept : request_(how), keeper_(keeper) {}

  bool is_there() const noexcept { return request_ != nullptr; }
  // Asks for one more and returns the request's number. REQUIRES: is_there().
  std::uint64_t request() const noexcept { return request_(keeper_); }

 private:
  Request request_ = nullptr;
  void* keeper_ = nullptr;
};

// All that is not atomic is fixed before endpoints know the model, except where a thread is named.
struct ServedModel {
  std::string_view name() const noexcept { return called.text(); }

  ModelName called;
  std::uint32_t place = 0;               // among the server's models
  const ServedModel* follows = nullptr;  // the model whose rows it learns from; null: senders' rows
  // The place of the model whose posterior answers questions about this one.
  std::atomic<std::uint32_t> answered_by{0};
  std::string_view schema_json;  // HostedModel::schema_json
  ModelLimits limits;
  Engine* engine = nullptr;
  bool takes_rows = true;         // from senders; false: it follows another
  std::uint64_t instance_id = 0;  // as in Welcome
  std::uint64_t start_id = 0;     // as in Welcome
  Durability durability = Durability::kMemory;
  LogProgress log;  // all 0 without a log
  std::uint64_t log_capacity_bytes = 0;
  CheckpointProgress checkpoints;
  CheckpointKeeper keeper;                   // not there: no folder is kept
  const ProducerTable* producers = nullptr;  // the observe thread's; any thread may call size()
  // The RowIntake whose frame was the first to find no room in the window or the log: the others
  // wait until it has found some. The observe thread's.
  const void* first_in_line = nullptr;
  SenderOverHttp over_http;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVED_MODEL_H_
