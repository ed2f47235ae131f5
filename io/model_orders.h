// What operators want of a server's models, from their connections to the thread that does it.
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

  // Cut where it is too long; what is not ASCII becomes '?'.
  void say(Status why, std::string_view sentence) noexcept;
};

// One order at a time: who comes while another waits or is carried out is refused, and asks again.
// The last kKept outcomes can be asked for. A lock is held while a few kilobytes are copied, on the
// way of orders alone. Invariant: an order is carried out once.
class ModelOrders {
 public:
  static constexpr std::size_t kKept = 8;

  // False: the system gave no descriptor to wait with, so nobody can carry out anything.
  bool valid() const noexcept { return wake_.valid(); }

  // Somebody carries out orders from now on, or not any more. Without anybody there are none.
  void begin() noexcept;
  void end() noexcept;
  bool are_taken() const noexcept { return taken_.load(std::memory_order_acquire); }

  // Any thread. The number of the order; 0: another one is under way. REQUIRES: name and
  // configuration are not longer than there is room.
  std::uint64_t place(const HostModelQuery& query) noexcept;
  // Any thread. False: there was no such order, or its outcome is not kept any more.
  bool ask(std::uint64_t number, ModelOutcome& outcome) noexcept;

  // Who carries out: waits for an order. False: end() has been called.
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
