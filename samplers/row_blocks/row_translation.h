// Where a row that comes or goes moves the chains at once.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_TRANSLATION_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_TRANSLATION_H_

#include <cstdint>

#include "windhover/samplers/row_blocks/row_columns.h"

namespace windhover {

struct RowBlockParts;

// A row moves the centre of the posterior. All chains are translated, by as much as if its columns
// depended on no others. Where rows are not weighed they also come closer together along a row that
// comes, as a Kalman filter has it, and further apart where it goes; elsewhere they scatter as
// before. What that leaves or goes too far by the moves make up for.
//
// One of the first three functions works out the way, into the block of the row that is gathered;
// apply() goes it. Invariant: only apply() changes theta and G. One thread.
class RowTranslation {
 public:
  // The parts outlive it.
  explicit RowTranslation(RowBlockParts& parts) noexcept : parts_(parts) {}

  // For a row with a weight; `sign`: -1 where it comes, 1 where it has gone. Where columns of it
  // have just been drawn, `fresh` is what NewColumns says of them; otherwise 0.
  void work_out(const RowColumns& row, std::uint32_t slot, float sign, double fresh) noexcept;
  // For a row without a weight that comes; eta becomes what the chains have once they are there.
  void work_out_transport(const RowColumns& row) noexcept;
  // For a row without a weight that has gone.
  void work_out_return(const RowColumns& row, std::uint32_t slot) noexcept;

  // Translates the chains, and adds to G, where it is not known exactly, what a row of these
  // residuals says.
  void apply(const RowColumns& row, const float* residuals) noexcept;

 private:
  double mean_force(std::uint32_t column) const noexcept;

  RowBlockParts& parts_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_TRANSLATION_H_
