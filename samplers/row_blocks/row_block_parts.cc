#include "windhover/samplers/row_blocks/row_block_parts.h"

#include <cmath>

#include "windhover/samplers/row_blocks/normal_source.h"

namespace windhover {

namespace {

// How many normals are made at a time, unless a row needs more.
constexpr std::size_t kNormals = 1024;

}  // namespace

RowBlockParts::RowBlockParts(Arena& arena, const ModelConfig& model, std::uint32_t chain_count,
                             std::uint64_t slots, std::uint64_t random_seed,
                             std::uint64_t past) noexcept
    : layout(model),
      chains(chain_count),
      seed(random_seed),
      noise(model, chains),
      positions(arena, model.columns(), chains, model.intercept),
      kept(arena, slots, chains),
      columns(arena, model.columns()),
      weights(arena, model.columns(), weighs_rows() ? slots : 0),
      exact(arena, weighs_rows() ? model.columns() : 0, chains, slots,
            RowLikelihood::kMostWeight * kLargestValue * noise.likelihood().most_residual()),
      prior(arena, model, past, positions, columns, noise),
      recent(chains),
      gathered(arena, std::size_t{model.max_nonzeros} + 1, *this),
      ahead(*this),
      normals(arena.allocate<float>(NormalSource::rounded(
          std::max(kNormals, (std::size_t{model.max_nonzeros} + 1) * chains)))) {}

void RowBlockParts::reset() noexcept {
  prior.reset();
  noise.set_units({});
  rows = {};
  recent.reset();
  kept.reset();
  weights.reset();
  exact.reset();
  columns.reset();
  gathered.reset();
  positions.reset();
}

bool RowBlockParts::in_range(const RowColumns& row) const noexcept {
  for (std::size_t k = 0; k < row.count; ++k) {
    if (!(std::abs(row.value(k)) <= kLargestValue)) return false;
  }
  return noise.likelihood().in_range(row.target);
}

float RowBlockParts::follow_curvature(const RowColumns& row, std::uint32_t slot, float newest,
                                      float share) noexcept {
  const float before = kept.curvature(slot);
  kept.curvature(slot) += share * (newest - before);
  add_curvature(row, before, kept.curvature(slot));  // as it is after rounding
  return kept.curvature(slot);
}

}  // namespace windhover
