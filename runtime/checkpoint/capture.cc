#include "windhover/runtime/checkpoint/capture.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "windhover/platform/snapshots.h"
#include "windhover/runtime/posterior/posterior.h"

namespace windhover::checkpoint {

namespace {

// For flags, counts and enums that objects keep in fewer than 8 bytes, headers of sections,
// counters.
constexpr std::size_t kBesideTheMemory = 64 * 1024;
// A section of rows costs 80 bytes beside its rows; the writer of the window may have to wait for
// one.
constexpr std::size_t kRowBytes = 64 * 1024;

}  // namespace

void StateCopy::section(const char* name, std::uint32_t version) noexcept {
  end();
  section_ = size_;
  any_ = true;
  put(bytes_of(SectionHeader(name, version)));
}

void StateCopy::put(std::span<const std::byte> bytes) noexcept {
  fits_ = fits_ && bytes.size() <= room_.size() - size_;
  if (!fits_ || bytes.empty()) return;
  std::memcpy(room_.data() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

void StateCopy::end() noexcept {
  if (!any_ || !fits_) return;
  auto header = load<SectionHeader>(room_.data() + section_);
  header.length = size_ - section_ - sizeof(header);
  std::memcpy(room_.data() + section_, &header, sizeof(header));
}

Capture::Capture(Arena& arena, std::size_t state_bytes, std::size_t largest_entry) noexcept
    : room_(arena.allocate<std::byte>(state_bytes)),
      rows_(arena.allocate<std::byte>(sizeof(RowsHeader) + std::max(kRowBytes, largest_entry))) {}

std::size_t Capture::state_bound(const Arena& arena, const EngineConfig& config) noexcept {
  std::size_t bytes = kBesideTheMemory;
  for (const Arena::Region& region : arena.regions()) {
    const std::string_view name = region.name;
    if (name == "model" || name == "sampler" || name == "estimates and chains") {
      bytes += region.bytes;
    } else if (name == "snapshots" || name == "events") {
      bytes +=
          region.bytes / Snapshots<Posterior>::slots_for(config.max_readers + config.max_watchers);
    }
  }
  if (config.model.learner_weight) bytes += config.window_size * sizeof(double);
  return bytes;
}

bool Capture::request() noexcept {
  if (!step(Stage::kIdle, Stage::kRequested)) return false;
  wanted_.store(true, std::memory_order_release);
  return true;
}

bool Capture::begin() noexcept {
  return wanted_.exchange(false, std::memory_order_acq_rel) &&
         step(Stage::kRequested, Stage::kTaking);
}

bool Capture::begin_unasked() noexcept { return step(Stage::kIdle, Stage::kTaking); }

bool Capture::end(std::uint64_t head, std::size_t counters_at, const StateCopy& copy) noexcept {
  head_ = head;
  counters_at_ = counters_at;
  size_ = copy.size();
  fits_ = copy.fits();
  return step(Stage::kTaking, Stage::kTaken);
}

bool Capture::begin_write() noexcept { return step(Stage::kTaken, Stage::kWritten); }

bool Capture::call_off() noexcept {
  if (step(Stage::kRequested, Stage::kIdle)) return false;
  return !step(Stage::kTaking, Stage::kCalledOff) && taken();
}

}  // namespace windhover::checkpoint
