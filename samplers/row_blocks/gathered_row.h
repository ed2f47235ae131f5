// A sparse row, with the state of its columns.
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

// Invariant: the block holds the numbers of one row; what load(), predict() and the like put there
// is as the parts were at that call. One thread.
class GatheredRow {
 public:
  // What the chains find when all of them look at a row again.
  struct Looked {
    float square;     // mean of (r - r')^2
    float curvature;  // mean of h
    float largest;    // the largest h
  };

  // Takes memory for at most `most_columns` columns. The parts outlive this object.
  GatheredRow(Arena& arena, std::size_t most_columns, RowBlockParts& parts) noexcept;
  void reset() noexcept;

  // Where all functions below put their results.
  const StepBlock& block() const noexcept { return block_; }

  // Puts the row's columns and values there.
  void unpack(const RowColumns& row) noexcept;
  // unpack(), and puts the state of these columns there.
  void load(const RowColumns& row) noexcept;
  // Works out eta of each chain. REQUIRES: load().
  void predict(const RowColumns& row) noexcept;
  // r and h of each chain at eta + `more`; returns their means. REQUIRES: predict().
  RowAt respond(const RowColumns& row, double more, float* residuals, float* curvatures) noexcept;
  // Brings the residuals that chains keep of the row up to date; returns by how much they have
  // changed. REQUIRES: predict().
  Looked look(const RowColumns& row, std::uint32_t slot) noexcept;
  // Puts x_j / (lambda_j + H_j) into the block's steps; returns sum of x_j^2 / (lambda_j + H_j).
  // REQUIRES: load().
  double direction(const RowColumns& row) noexcept;

 private:
  RowBlockParts& parts_;
  StepBlock block_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_GATHERED_ROW_H_
