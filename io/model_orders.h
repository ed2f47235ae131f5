// Orders of operators to add, replace and remove models, handed from connections to the thread that
// carries them out.
#ifndef WINDHOVER_IO_MODEL_ORDERS_H_
#define WINDHOVER_IO_MODEL_ORDERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "windhover/io/durable/wake.h"
#include "windhover/io/messages.h"
#include "windhover/io/replies.h"
#include "windhover/io/served_model.h"

namespace windhover {

// One order, and what has become of it.
struct ModelOrder {
  std::uint64_t number = 0;  // among the orders, from 1 on
  HostAction action = HostAction::kNone;
  std::array<char, kMaxModelName + 1> name{};
  bool delete_data = false;
  std::size_t configuration_bytes = 0;
  std::array<char, HostModelQuery::kMostConfiguration> text{};

  std::string_view configuration() const noexcept { return {text.data(), configuration_bytes}; }
};
struct ModelOutcome {
  std::uint64_t number = 0;  // of the order
  bool finished = false;
  Status status = Status::kOk;
  std::uint64_t needed_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::array<char, HostModelReply::kMostError + 1> error{};

  // Sets status and error. A sentence that is too long is cut; what is not ASCII becomes '?'.
  void say(Status why, std::string_view sentence) noexcept;
};

// One order at a time: one that comes while another waits or is carried out is refused. The last
// kKept outcomes can be asked for. Only orders take the lock, while a few kilobytes are copied.
// Invariant: an order is handed out once.
class ModelOrders {
 public:
  static constexpr std::size_t kKept = 8;

  // False: the system gave no descriptor to wait with, so no order can be carried out.
  bool valid() const noexcept { return wake_.valid(); }

  // A thread carries out orders from now on, or not any more. Before begin() none are taken.
  void begin() noexcept;
  void end() noexcept;
  bool are_taken() const noexcept { return taken_.load(std::memory_order_acquire); }

  // Returns the number of the order; 0: another one is under way. Any thread. REQUIRES: name and
  // configuration have at most kMaxModelName and kMostConfiguration bytes.
  std::uint64_t place(const HostModelQuery& query) noexcept;
  // False: there was no such order, or its outcome is not kept any more. Any thread.
  bool ask(std::uint64_t number, ModelOutcome& outcome) noexcept;

  // For the thread that carries out orders: waits for one. False: end() has been called.
  bool wait(ModelOrder& order) noexcept;
  void finish(const ModelOutcome& outcome) noexcept;

 private:
  std::mutex mutex_;
  Wake wake_;
  std::atomic<bool> taken_{false};
  bool waiting_ = false;  // order_ has not been taken up
  ModelOrder order_;      // the newest
  std::array<ModelOutcome, kKept> outcomes_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_MODEL_ORDERS_H_
