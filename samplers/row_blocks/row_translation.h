// Where a row that comes or goes moves the chains at once.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_TRANSLATION_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_TRANSLATION_H_

#include <cstdint>

#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

struct RowBlockParts;

// A row moves the centre of the posterior, and all chains are translated by as much as if its
// columns depended on no others. Where rows have no weights, chains also come closer together along
// a row that comes, as in a Kalman filter, and further apart along one that goes; with weights they
// keep their distances. Later moves correct what this leaves or overdoes.
//
// One of the first three functions computes the way, into the block of the gathered row; apply()
// goes it. Invariant: only apply() changes theta and G. One thread.
class RowTranslation {
 public:
  // The parts outlive it.
  explicit RowTranslation(RowBlockParts& parts) noexcept : parts_(parts) {}

  // For a row with a weight; `sign`: -1 where it comes, 1 where it has gone. `fresh` is what
  // NewColumns::draw_from() said, or 0.
  void work_out(const RowColumns& row, std::uint32_t slot, float sign, double fresh) noexcept;
  // For a row without a weight that comes; sets eta to the chains' values after the translation.
  void work_out_transport(const RowColumns& row) noexcept;
  // For a row without a weight that has gone.
  void work_out_return(const RowColumns& row, std::uint32_t slot) noexcept;

  // Translates the chains, and adds the part of a row with these residuals to G, unless
  // ExactColumns does that.
  void apply(const RowColumns& row, const float* residuals) noexcept;

 private:
  double mean_force(std::uint32_t column) const noexcept;

  RowBlockParts& parts_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_TRANSLATION_H_
