// The inner loops of a step of all chains over the columns of one row, compiled once an instruction
// set and chosen at run time. Plain pointers only. Results may differ in the last bits between
// instruction sets (fused multiply-add), never within one.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_KERNELS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace windhover {

// A number each of `count` columns, in the words of row_block_langevin.h, and where theta of all
// chains stands for it, with G of all behind it.
struct ChainColumns {
  float* const* theta;
  const float* value;
  const float* precision;
  const float* repeats;   // N_j x_ij
  const float* step;      // of what is taken: e_j times how much of it
  const float* noise_sd;  // likewise
  const float* scatter;
  const float* informed;  // what the column counts for in ChainSums::apart, ...
  const float* learned;   // ... in own, ...
  const float* per_row;   // ... and in slope
  std::size_t count;
};

// Chains are taken so many at a time, and compared with one another among these.
inline constexpr std::uint32_t kChainLanes = 8;

// Normals are made so many at a time.
inline constexpr std::size_t kChainNormals = 16;
inline constexpr std::size_t kSurveyedColumns = 64;

// Of all chains together, with F_j as it was before the step.
struct ChainSums {
  double apart;  // sum of informed_j (theta_j - theta'_j) F_j, theta' that of another chain
  double own;    // of learned_j theta_j F_j
  double slope;  // of per_row_j theta_j (F_j - precision_j theta_j)
};

// Sums over columns, each weighted as RowBlockLangevin::retain() says.
struct ColumnSurvey {
  double weights;    // of H_j / (lambda_j + H_j) N_j, which the next two are weighted with too
  double squares;    // of (lambda_j theta_j + G_j)^2 / (lambda_j + H_j), of the chains' means, ...
  double unsettled;  // of what is given
  double informed;   // of H_j / (lambda_j + H_j), which the next is weighted with too
  double shared;     // of the part of theta_j's variance that is not 1 / (lambda_j + H_j)
};

struct ChainKernels {
  // Standard normals of as many words of 32 random bits, which may lie in their place, by Box and
  // Muller: of each kChainNormals the first half are radii, the second angles. Within 10^-5 of what
  // exact arithmetic gives, or 4 x 10^-4 where the radius is next to nothing; at most 6.8 in size.
  // REQUIRES: `count` is a multiple of kChainNormals.
  void (*normals)(const std::uint32_t* bits, std::size_t count, float* out);
  // eta[c] += sum of value_j theta_jc; one number a chain.
  void (*predictors)(float* const* theta, const float* value, std::size_t count,
                     std::uint32_t chains, double* eta);
  // along[c] = sum of scatter_j z_jc; `normals` holds a number a column and chain.
  void (*project)(const float* scatter, const float* normals, std::size_t count,
                  std::uint32_t chains, float* along);
  // theta_jc += noise_sd_j (z_jc - taken[c] scatter_j) - step_j F_jc, where
  // F_jc = precision_j theta_jc + G_jc + repeats_j moved[c], and G_jc += value_j change[c].
  ChainSums (*step)(const ChainColumns& columns, const float* normals, const float* taken,
                    const float* moved, const float* change, std::uint32_t chains);
  // Of a number each of these columns; ... over the dispersion. REQUIRES: `count` is at most
  // kSurveyedColumns.
  ColumnSurvey (*survey)(const float* const* theta, const float* precision, const float* curvature,
                         const float* rows, const float* unsettled, std::size_t count,
                         std::uint32_t chains, float dispersion);
  // theta_jc += by_j times[c], G_jc += value_j residual[c], of a row that comes; one that goes has
  // -residual.
  void (*translate)(float* const* theta, const float* by, const float* times, const float* value,
                    const float* residual, std::size_t count, std::uint32_t chains);
};

// The table for instruction_set().
const ChainKernels& chain_kernels() noexcept;

extern const ChainKernels kChainKernelsBaseline;
extern const ChainKernels kChainKernelsAvx2;
extern const ChainKernels kChainKernelsAvx512;

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_KERNELS_H_
