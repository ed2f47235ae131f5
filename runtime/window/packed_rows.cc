#include "windhover/runtime/window/packed_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace windhover {

static_assert(std::endian::native == std::endian::little, "packed rows are copied as they lie");

namespace {

constexpr std::size_t kCountBytes = sizeof(std::uint32_t);

std::uint32_t count_of(const std::byte* row) noexcept {
  std::uint32_t count;
  std::memcpy(&count, row, sizeof(count));
  return count;
}

}  // namespace

std::size_t PackedRows::bytes_of_count(std::size_t count) const noexcept {
  if (!layout_.sparse()) return (layout_.features() + of_target()) * sizeof(double);
  return kCountBytes + of_target() * sizeof(double) + count * kValueBytes;
}

std::size_t PackedRows::bytes_of(const double* row) const noexcept {
  return bytes_of_count(layout_.sparse() ? SparseRow(layout_, row).count : 0);
}

void PackedRows::pack(const double* row, std::byte* out) const noexcept {
  if (!layout_.sparse()) {
    std::memcpy(out, row, bytes_of_count(0));
    return;
  }
  const SparseRow sparse(layout_, row);
  const auto count = static_cast<std::uint32_t>(sparse.count);
  std::memcpy(out, &count, kCountBytes);
  out += kCountBytes;
  std::memcpy(out, &row[layout_.target_index()], sizeof(double));
  out += sizeof(double);
  std::memcpy(out, row + layout_.extras_index(), layout_.extras() * sizeof(double));
  out += layout_.extras() * sizeof(double);
  std::memcpy(out, sparse.values, sparse.count * sizeof(double));
  std::memcpy(out + sparse.count * sizeof(double), sparse.indices,
              sparse.count * sizeof(std::uint32_t));
}

std::size_t PackedRows::first_row(std::span<const std::byte> bytes) const noexcept {
  if (layout_.sparse() && bytes.size() < kCountBytes) return 0;
  const std::size_t size = bytes_of_count(layout_.sparse() ? count_of(bytes.data()) : 0);
  return size <= bytes.size() ? size : 0;
}

std::optional<std::size_t> PackedRows::first_rows(std::span<const std::byte> bytes,
                                                  std::uint64_t rows) const noexcept {
  if (!layout_.sparse()) {
    const std::size_t size = bytes_of_count(0);
    if (rows > bytes.size() / size) return std::nullopt;
    return rows * size;
  }
  std::size_t sum = 0;
  for (; rows > 0; --rows) {
    const std::size_t size = first_row(bytes.subspan(sum));
    if (size == 0) return std::nullopt;
    sum += size;
  }
  return sum;
}

Status PackedRows::unpack(std::span<const std::byte> bytes, double* row) const noexcept {
  if (!layout_.sparse()) {
    std::memcpy(row, bytes.data(), bytes_of_count(0));
    std::fill(row + layout_.features() + of_target(), row + layout_.stride(), 0.0);
    layout_.begin_learner_weight(row);
    return Status::kOk;
  }
  const std::size_t count = count_of(bytes.data());
  if (count > layout_.max_nonzeros()) return Status::kTooManyNonzeros;
  const std::byte* from = bytes.data() + kCountBytes;
  std::memcpy(&row[layout_.target_index()], from, sizeof(double));
  row[RowLayout::kCountIndex] = static_cast<double>(count);
  from += sizeof(double);
  std::memcpy(row + layout_.extras_index(), from, layout_.extras() * sizeof(double));
  layout_.begin_learner_weight(row);
  from += layout_.extras() * sizeof(double);
  std::memcpy(row + RowLayout::kValuesIndex, from, count * sizeof(double));
  auto* indices = reinterpret_cast<std::uint32_t*>(row + layout_.indices_index());
  std::memcpy(indices, from + count * sizeof(double), count * sizeof(std::uint32_t));
  for (std::size_t k = 0; k < count; ++k) {
    if (indices[k] >= layout_.features()) return Status::kIndexOutOfRange;
    if (k > 0 && indices[k] <= indices[k - 1]) return Status::kIndicesNotIncreasing;
  }
  return Status::kOk;
}

}  // namespace windhover
