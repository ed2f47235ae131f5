#include "windhover/io/model_orders.h"

#include <algorithm>

namespace windhover {

void ModelOutcome::say(Status why, std::string_view sentence) noexcept {
  status = why;
  error.fill('\0');
  sentence = sentence.substr(0, HostModelReply::kMostError);
  std::ranges::transform(sentence, error.data(), [](char c) {
    return static_cast<unsigned char>(c) < 128 && c != '\0' ? c : '?';
  });
}

void ModelOrders::begin() noexcept { taken_.store(true, std::memory_order_release); }

void ModelOrders::end() noexcept {
  taken_.store(false, std::memory_order_release);
  wake_.wake();
}

std::uint64_t ModelOrders::place(const HostModelQuery& query) noexcept {
  const std::lock_guard lock(mutex_);
  ModelOutcome& before = outcomes_[order_.number % kKept];
  if (waiting_ || (order_.number != 0 && !before.finished)) return 0;
  ++order_.number;
  order_.action = static_cast<HostAction>(query.action);
  order_.name.fill('\0');
  query.name.copy(order_.name.data(), kMaxModelName);
  order_.delete_data = query.delete_data;
  order_.configuration_bytes =
      query.configuration.copy(order_.text.data(), HostModelQuery::kMostConfiguration);
  outcomes_[order_.number % kKept] = {};
  outcomes_[order_.number % kKept].number = order_.number;
  waiting_ = true;
  wake_.wake();
  return order_.number;
}

bool ModelOrders::ask(std::uint64_t number, ModelOutcome& outcome) noexcept {
  const std::lock_guard lock(mutex_);
  outcome = outcomes_[number % kKept];
  return number != 0 && outcome.number == number;
}

bool ModelOrders::wait(ModelOrder& order) noexcept {
  while (are_taken()) {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_) {
        waiting_ = false;
        order = order_;
        return true;
      }
    }
    wake_.sleep(-1);
  }
  return false;
}

void ModelOrders::finish(const ModelOutcome& outcome) noexcept {
  const std::lock_guard lock(mutex_);
  ModelOutcome& kept = outcomes_[outcome.number % kKept];
  kept = outcome;
  kept.finished = true;
}

}  // namespace windhover
