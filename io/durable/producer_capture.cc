#include "windhover/io/durable/producer_capture.h"

#include <algorithm>
#include <array>

#include "windhover/io/durable/log_format.h"
#include "windhover/platform/check.h"

namespace windhover {
namespace {

constexpr std::size_t kAtATime = 64;  // numbers

// Collects the numbers that a table shows.
class NumberList final : public StateVisitor {
 public:
  explicit NumberList(std::span<std::uint64_t> room) noexcept : room_(room) {}
  using StateVisitor::visit;
  void visit(std::span<std::uint64_t> numbers) noexcept override {
    for (const std::uint64_t number : numbers) {
      if (!counted_) {
        counted_ = true;  // the first number, which is how many pairs follow
      } else if (size_ < room_.size()) {
        room_[size_++] = number;
      }
    }
  }
  void visit(std::span<double>) noexcept override {}
  void visit(std::span<std::uint32_t>) noexcept override {}
  std::size_t size() const noexcept { return size_; }

 private:
  std::span<std::uint64_t> room_;
  std::size_t size_ = 0;
  bool counted_ = false;
};

// Gives a table the numbers that it restores. After one that cannot be read all are 0.
class SourceNumbers final : public StateVisitor {
 public:
  explicit SourceNumbers(Source& source) noexcept : source_(source) {}
  using StateVisitor::visit;
  bool restores() const noexcept override { return true; }
  void visit(std::span<std::uint64_t> numbers) noexcept override {
    for (std::uint64_t& number : numbers) {
      std::array<std::byte, 8> bytes{};
      if (ok(status_)) status_ = source_.read(bytes);
      number = ok(status_) ? load_number(bytes.data()) : 0;
    }
  }
  void visit(std::span<double>) noexcept override {}
  void visit(std::span<std::uint32_t>) noexcept override {}
  Status status() const noexcept { return status_; }

 private:
  Source& source_;
  Status status_ = Status::kOk;
};

}  // namespace

void ProducerCapture::take(ProducerTable& table, std::uint64_t head,
                           std::uint64_t frames) noexcept {
  NumberList list(numbers_);
  const Status shown = table.visit_state(list);
  WINDHOVER_CHECK(ok(shown));
  count_ = list.size();
  head_ = head;
  frames_ = frames;
  tells_owners_ = table.tells_owners();
  state_.store(State::kTaken, std::memory_order_release);
}

Status ProducerCapture::write(Sink& sink) const noexcept {
  std::array<std::byte, 8 * kAtATime> bytes;
  store_number(bytes.data(), count_ / 2);
  Status status = sink.write(std::span(bytes).first(8));
  for (std::size_t i = 0; i < count_ && ok(status);) {
    const std::size_t n = std::min(kAtATime, count_ - i);
    for (std::size_t k = 0; k < n; ++k) store_number(bytes.data() + 8 * k, numbers_[i + k]);
    status = sink.write(std::span(bytes).first(8 * n));
    i += n;
  }
  return status;
}

Status ProducerCapture::read(Source& source, ProducerTable& table) noexcept {
  SourceNumbers numbers(source);
  const Status status = table.visit_state(numbers);
  return ok(numbers.status()) ? status : numbers.status();
}

}  // namespace windhover
