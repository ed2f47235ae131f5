// The scratch of a step over the columns of one row.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_BLOCK_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_BLOCK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/samplers/row_blocks/chain_kernels.h"

namespace windhover {

// What a step gathers of its row's columns, and computes: arrays of max_nonzeros + 1 numbers that
// are the same for all chains, then arrays of one number a chain. A row is padded to a multiple of
// kColumnLanes by columns of value 0, which add nothing to any sum.
struct StepBlock {
  StepBlock(Arena& arena, std::size_t most_columns, std::size_t chains) noexcept
      : width(padded(most_columns)),
        column(arena.allocate<std::uint32_t>(width).data()),
        theta(arena.allocate<float*>(width).data()),
        eta(arena.allocate<double>(chains).data()) {
    for (float** numbers :
         {&value, &rows, &repeats, &curvature, &precision, &length, &step, &noise_sd, &scatter,
          &informed, &learned, &per_row, &taken_away, &mean, &square}) {
      *numbers = arena.allocate<float>(width).data();
    }
    for (float** numbers : {&before, &after, &bent, &change, &moved, &taken, &none}) {
      *numbers = arena.allocate<float>(chains).data();
    }
  }
  void reset(std::size_t chains) noexcept {
    std::fill_n(none, chains, 0.0F);
    std::fill_n(learned, width, 0.0F);
    std::fill_n(per_row, width, 0.0F);
  }
  static constexpr std::size_t padded(std::size_t columns) noexcept {
    return (columns + kColumnLanes - 1) / kColumnLanes * kColumnLanes;
  }

  std::size_t width;
  std::uint32_t* column;
  float** theta;     // points to theta of the column's chains
  float* value;      // x_ij
  float* rows;       // N_j
  float* repeats;    // N_j x_ij
  float* curvature;  // H_j
  float* precision;  // ColumnPrior::pull(): lambda_j, and what the past adds
  float* length;     // eps_j
  float* step;       // e_j; for a row that comes or goes, how far theta moves
  float* noise_sd;   // root of V_jj
  float* scatter;    // e_j g_j / noise_sd, where sd(r - r') is 1
  float* informed;   // see ChainColumns
  float* learned;
  float* per_row;
  float* taken_away;  // the share of the column's hold that a row takes from the prior
  float* mean;        // of theta over the chains
  float* square;      // of the square of theta over the chains
  double* eta;
  float* before;  // r'
  float* after;   // r
  float* bent;    // h
  float* change;  // r - r'
  float* moved;   // change, times the rows that this one stands for
  float* taken;   // the part of the normals along the scatter that is replaced
  float* none;    // zeros
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_BLOCK_H_
