// The scratch of a step over the columns of one row.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_BLOCK_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_BLOCK_H_

#include <cstddef>

#include "windhover/platform/arena.h"

namespace windhover {

// What a step gathers of its row's columns, and works out: max_nonzeros + 1 numbers each, which
// are the same for all chains; then a number a chain.
struct StepBlock {
  StepBlock(Arena& arena, std::size_t width, std::size_t chains) noexcept
      : theta(arena.allocate<float*>(width).data()),
        eta(arena.allocate<double>(chains).data()),
        shrunk(arena.allocate<double>(chains).data()) {
    for (float** numbers : {&value, &rows, &repeats, &curvature, &precision, &length, &step,
                            &noise_sd, &scatter, &informed, &learned, &per_row}) {
      *numbers = arena.allocate<float>(width).data();
    }
    for (float** numbers : {&before, &after, &change, &moved, &taken, &none}) {
      *numbers = arena.allocate<float>(chains).data();
    }
  }

  float** theta;     // where those of the column are
  float* value;      // x_ij
  float* rows;       // N_j
  float* repeats;    // N_j x_ij
  float* curvature;  // H_j
  float* precision;  // lambda_j
  float* length;     // eps_j
  float* step;       // e_j; of a row that comes or goes what theta is translated by
  float* noise_sd;   // root of V_jj
  float* scatter;    // of e_j g_j in units of noise_sd, where sd(r - r') is 1
  float* informed;   // see ChainColumns
  float* learned;
  float* per_row;
  double* eta;
  double* shrunk;  // what of eta goes with the prior
  float* before;   // r'
  float* after;    // r
  float* change;   // r - r'
  float* moved;    // as of the rows that this one stands for
  float* taken;    // of the normals along the scatter
  float* none;     // zeros
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_STEP_BLOCK_H_
