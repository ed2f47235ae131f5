#include "windhover/runtime/window/repeated_rows.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>

namespace windhover {

namespace {

// The most places that are looked at: rows whose hashes were made to collide cost no more, and are
// not counted.
constexpr std::uint32_t kMostProbes = 64;

std::uint64_t hash_of(const void* data, std::size_t bytes) noexcept {
  return std::hash<std::string_view>{}({static_cast<const char*>(data), bytes});
}

std::uint64_t hash_of_row(const RowLayout& layout, const double* row) noexcept {
  if (!layout.sparse()) {
    return hash_of(row, (layout.extras_index() + layout.extras()) * sizeof(double));
  }
  const SparseRow sparse(layout, row);  // what stands beyond its count is of older rows
  const std::uint64_t values = hash_of(row, (2 + sparse.count) * sizeof(double));
  const std::uint64_t places = hash_of(sparse.indices, sparse.count * sizeof(std::uint32_t));
  const std::uint64_t hash = values ^ std::rotl(places, 17);
  if (layout.extras() == 0) return hash;
  return hash ^
         std::rotl(hash_of(row + layout.extras_index(), layout.extras() * sizeof(double)), 34);
}

}  // namespace

RepeatedRows::RepeatedRows(Arena& arena, std::uint64_t window_size) noexcept
    : most_(static_cast<std::uint32_t>(
          std::bit_ceil(std::min<std::uint64_t>(window_size, kMostKept)))),
      hashes_(arena.allocate<std::uint64_t>(most_).data()),
      counts_(arena.allocate<std::uint32_t>(most_).data()),
      places_(arena.allocate<std::uint32_t>(std::size_t{4} * most_).data()) {}

void RepeatedRows::reset() noexcept {
  share_ = std::numeric_limits<double>::quiet_NaN();
  stride_ = 1;
  begin_pass();
}

void RepeatedRows::begin_pass() noexcept {
  if (size_ <= most_ / 2) stride_ = std::max<std::uint64_t>(1, stride_ / 2);
  size_ = 0;
  clear_places();
}

void RepeatedRows::clear_places() noexcept { std::fill_n(places_, std::size_t{4} * most_, kNone); }

void RepeatedRows::add(const RowLayout& layout, const RowBatch& rows) noexcept {
  for (std::size_t i = 0; i < rows.count; ++i) {
    count(hash_of_row(layout, rows.base + rows.slots[i] * layout.stride()));
  }
}

void RepeatedRows::end_pass() noexcept {
  std::uint64_t rows = 0;
  for (std::uint32_t k = 0; k < size_; ++k) rows += counts_[k];
  if (rows > 0) share_ = static_cast<double>(rows - size_) / static_cast<double>(rows);
}

// The place where the hash is, or where it would go; null if that is beyond kMostProbes.
std::uint32_t* RepeatedRows::place(std::uint64_t hash) noexcept {
  const std::uint64_t mask = std::uint64_t{4} * most_ - 1;
  for (std::uint64_t probe = 0; probe < kMostProbes; ++probe) {
    std::uint32_t* at = places_ + ((hash + probe) & mask);
    if (*at == kNone || hashes_[*at] == hash) return at;
  }
  return nullptr;
}

void RepeatedRows::count(std::uint64_t hash) noexcept {
  if (!kept(hash)) return;
  std::uint32_t* at = place(hash);
  if (at == nullptr) return;
  if (*at != kNone) {
    ++counts_[*at];
    return;
  }
  if (size_ == most_) {
    keep_half();
    at = kept(hash) ? place(hash) : nullptr;
    if (at == nullptr || size_ == most_) return;
  }
  *at = size_;
  hashes_[size_] = hash;
  counts_[size_++] = 1;
}

void RepeatedRows::find_places() noexcept {
  clear_places();
  for (std::uint32_t k = 0; k < size_; ++k) {
    if (std::uint32_t* at = place(hashes_[k]); at != nullptr) *at = k;
  }
}

void RepeatedRows::visit_state(StateVisitor& visitor) noexcept {
  visitor.values(size_, stride_, share_);
  visitor.visit(std::span<std::uint64_t>(hashes_, size_));
  visitor.visit(std::span<std::uint32_t>(counts_, size_));
  if (visitor.restores()) find_places();
}

void RepeatedRows::keep_half() noexcept {
  stride_ *= 2;
  clear_places();
  std::uint32_t left = 0;
  for (std::uint32_t k = 0; k < size_; ++k) {
    if (!kept(hashes_[k])) continue;
    hashes_[left] = hashes_[k];
    counts_[left] = counts_[k];
    if (std::uint32_t* at = place(hashes_[left]); at != nullptr) *at = left++;
  }
  size_ = left;
}

}  // namespace windhover
