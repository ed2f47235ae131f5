#include "windhover/runtime/window/age_draws.h"

#include <algorithm>

#include "windhover/platform/check.h"

namespace windhover {
namespace {

constexpr double kWhole = 4294967296.0;  // 2^32

// The integer in [0, bound) that a word maps to, as in fill_indices().
constexpr std::uint32_t below(std::uint32_t bound, std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>((word * bound) >> 32);
}

}  // namespace

void AgeDraws::prepare(const AgeWeights& ages, std::uint64_t first, std::uint64_t end) noexcept {
  if (first == first_ && end == end_ && ages == ages_) return;
  ages_ = ages;
  first_ = first;
  end_ = end;
  // Pieces of rows that count the same, and their weights.
  std::array<Piece, kMostSteps> pieces;
  std::array<double, kMostSteps> mass;
  const double total = ages.sums(first, end).weight;
  columns_ = 0;
  for (std::uint64_t at = first; at < end;) {
    const std::uint64_t last = std::min(end, ages.end_of_step(at));
    WINDHOVER_CHECK(columns_ < kMostSteps);
    pieces[columns_] = {static_cast<std::uint32_t>(at - first),
                        static_cast<std::uint32_t>(last - at)};
    mass[columns_++] = ages.weight(at, end - 1) * static_cast<double>(last - at) / total;
    at = last;
  }
  std::array<std::uint32_t, kMostSteps> small;
  std::array<std::uint32_t, kMostSteps> large;
  std::uint32_t smalls = 0;
  std::uint32_t larges = 0;
  for (std::uint32_t i = 0; i < columns_; ++i) {
    mass[i] *= columns_;
    table_[i] = {UINT32_MAX, {pieces[i], pieces[i]}};
    (mass[i] < 1 ? small[smalls++] : large[larges++]) = i;
  }
  while (smalls > 0 && larges > 0) {
    const std::uint32_t less = small[--smalls];
    const std::uint32_t more = large[larges - 1];
    table_[less].share = static_cast<std::uint32_t>(mass[less] * kWhole);
    table_[less].pieces[1] = pieces[more];
    mass[more] -= 1 - mass[less];
    if (mass[more] < 1) {
      --larges;
      small[smalls++] = more;
    }
  }
}

void AgeDraws::draw(std::uint64_t seed, const RandomPosition& position,
                    std::span<std::uint32_t> out) const noexcept {
  Rng rng(seed, position);
  std::array<std::uint32_t, 256> words;
  for (std::size_t done = 0; done < out.size(); done += words.size() / 2) {
    const std::size_t count = std::min(words.size() / 2, out.size() - done);
    rng.fill_bits(std::span(words).first(2 * count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t product = std::uint64_t{words[2 * i]} * columns_;
      const Column& column = table_[product >> 32];
      const Piece& piece =
          column.pieces[static_cast<std::uint32_t>(product) >= column.share ? 1 : 0];
      out[done + i] = piece.begin + below(piece.rows, words[2 * i + 1]);
    }
  }
}

}  // namespace windhover
