// A row of few of many columns, with what is known of these.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_GATHERED_ROW_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_GATHERED_ROW_H_

#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/samplers/row_blocks/row_columns.h"
#include "windhover/samplers/row_blocks/row_likelihood.h"
#include "windhover/samplers/row_blocks/step_block.h"

namespace windhover {

struct RowBlockParts;

// Invariant: the block has the numbers of one row; those asked for last are as the parts had them
// then. One thread.
class GatheredRow {
 public:
  // What all chains together find when they look at a row again.
  struct Looked {
    float square;     // mean of (r - r')^2
    float curvature;  // mean of h
    float largest;    // h
  };

  // Takes memory for so many columns at most. The parts outlive it.
  GatheredRow(Arena& arena, std::size_t most_columns, RowBlockParts& parts) noexcept;
  void reset() noexcept;

  // Where all functions below put what they work out.
  const StepBlock& block() const noexcept { return block_; }

  // Puts the row's columns and values there.
  void unpack(const RowColumns& row) noexcept;
  // unpack(), and what is known of these columns.
  void load(const RowColumns& row) noexcept;
  // Works out eta of each chain. REQUIRES: load().
  void predict(const RowColumns& row) noexcept;
  // r and h of each chain at eta + `more`; returns their means. REQUIRES: predict().
  RowAt respond(const RowColumns& row, double more, float* residuals, float* curvatures) noexcept;
  // Brings what the chains keep of the row up to date; returns how much that has changed. REQUIRES:
  // predict().
  Looked look(const RowColumns& row, std::uint32_t slot) noexcept;
  // Puts x_j / (lambda_j + H_j) into the block's steps, and returns the product of that with the
  // row. REQUIRES: load().
  double direction(const RowColumns& row) noexcept;

 private:
  RowBlockParts& parts_;
  StepBlock block_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_GATHERED_ROW_H_
