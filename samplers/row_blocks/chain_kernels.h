// The inner loops of a step of all chains over the columns of one row, compiled once for each
// instruction set and chosen at run time. Plain pointers only. Results may differ in the last bits
// between instruction sets (fused multiply-add), never within one.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_KERNELS_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace windhover {

// Arrays of one number for each of `count` columns, in the notation of row_block_langevin.h.
// theta[j] points to theta of all chains, which G of all chains follows.
struct ChainColumns {
  float* const* theta;
  const float* value;
  const float* precision;
  const float* repeats;   // N_j x_ij
  const float* step;      // e_j times the share of the step that is taken
  const float* noise_sd;  // root of V_jj, times the root of that share
  const float* scatter;
  const float* informed;  // the weight of the column in ChainSums::apart, ...
  const float* learned;   // ... in own, ...
  const float* per_row;   // ... and in slope
  std::size_t count;
};

// One number for each of a row's columns: the inputs of a step, then what is computed for it.
struct ColumnSteps {
  const float* value;
  const float* rows;
  const float* precision;
  const float* curvature;
  const float* length;  // eps_j at scale 1
  float* step;          // e_j
  float* noise_sd;      // root of V_jj
  float* scatter;
  float* repeats;
  float* informed;
};

// Sums over the columns of a row.
struct StepSums {
  double squares;  // of `scatter`, squared
  double weights;  // of `informed`
};

// How the chains respond to a row.
struct ChainResponses {
  float residual;   // sum of r
  float curvature;  // sum of h
};

// How many chains are taken at a time; ChainSums compares those of one group with one another.
inline constexpr std::uint32_t kChainLanes = 8;

// How many columns are taken at a time by loops over numbers that all chains share.
inline constexpr std::size_t kColumnLanes = 8;

// How many normals are made at a time, and how many columns are surveyed.
inline constexpr std::size_t kChainNormals = 16;
inline constexpr std::size_t kSurveyedColumns = 64;

// Sums over all chains and columns, with F_j as it was before the step.
struct ChainSums {
  double apart;  // sum of informed_j (theta_j - theta'_j) F_j, theta' that of another chain
  double own;    // of learned_j theta_j F_j
  double slope;  // of per_row_j theta_j (F_j - precision_j theta_j)
};

// Sums over columns, of which ChainSurvey is made.
struct ColumnSurvey {
  double weights;    // of H_j / (lambda_j + H_j) N_j, the weight in the next two sums
  double squares;    // of (lambda_j theta_j + G_j)^2 / (lambda_j + H_j), of the chains' means, ...
  double unsettled;  // of `unsettled`
  double informed;   // of H_j / (lambda_j + H_j), the weight in the next sum
  double shared;     // of the part of theta_j's variance that is not 1 / (lambda_j + H_j)
};

struct ChainKernels {
  // Makes standard normals from as many words of 32 random bits by Box and Muller; `out` may be the
  // same memory. Of each kChainNormals words the first half give radii, the second angles. The
  // error is below 10^-5, or 4 x 10^-4 where the radius is next to nothing; the largest is 6.8.
  // REQUIRES: `count` is a multiple of kChainNormals.
  void (*normals)(const std::uint32_t* bits, std::size_t count, float* out);
  // Makes the normals of `chains` chains, which lie side by side, sum to 0. Each stays a standard
  // normal; any two of K chains have the correlation -1 / (K - 1). REQUIRES: `count` is a multiple
  // of `chains`, which is at least 2.
  void (*balance)(float* normals, std::size_t count, std::uint32_t chains);
  // by_j = value_j / (precision_j + curvature_j); returns the sum of value_j by_j. REQUIRES:
  // `count` is a multiple of kColumnLanes, and padding has value 0 and other numbers finite.
  double (*direction)(const float* value, const float* precision, const float* curvature,
                      std::size_t count, float* by);
  // Computes a step with eps_j = scale length_j; `importance` multiplies the row's residual.
  // REQUIRES: as direction().
  StepSums (*steps)(const ColumnSteps& columns, std::size_t count, float scale, float importance,
                    float dispersion);
  // eta[c] += sum of value_j theta_jc; one number a chain.
  void (*predictors)(float* const* theta, const float* value, std::size_t count,
                     std::uint32_t chains, double* eta);
  // r and h of a logistic row (logistic_at()) at eta[c] + more, in single precision. The relative
  // error is below 10^-6, and grows by as much for each 10 that |eta| grows, up to |eta| = 87;
  // beyond, r and h stay as they are there. `sign`: 1 where y is 0, -1 where it is 1.
  ChainResponses (*logistic)(const double* eta, double more, float sign, std::uint32_t chains,
                             float* residual, float* curvature);
  // The means of theta and of its square over the chains, for each of these columns.
  void (*moments)(const float* const* theta, std::size_t count, std::uint32_t chains, float* mean,
                  float* square);
  // along[c] = sum of scatter_j z_jc; `normals` holds a number a column and chain.
  void (*project)(const float* scatter, const float* normals, std::size_t count,
                  std::uint32_t chains, float* along);
  // theta_jc += noise_sd_j (z_jc - taken[c] scatter_j) - step_j F_jc, where
  // F_jc = precision_j theta_jc + G_jc + repeats_j moved[c], and G_jc += value_j change[c].
  ChainSums (*step)(const ChainColumns& columns, const float* normals, const float* taken,
                    const float* moved, const float* change, std::uint32_t chains);
  // The arrays hold one number a column; a posterior variance is `dispersion` / (lambda_j + H_j).
  // REQUIRES: `count` is at most kSurveyedColumns.
  ColumnSurvey (*survey)(const float* const* theta, const float* precision, const float* curvature,
                         const float* rows, const float* unsettled, std::size_t count,
                         std::uint32_t chains, float dispersion);
  // out[column x stride + chain] = scale theta_jc for these columns. `chains_of_columns` holds for
  // each column theta of all chains, then G of all.
  void (*copy)(const float* chains_of_columns, const std::uint32_t* columns, std::size_t count,
               std::uint32_t chains, float scale, float* out, std::size_t stride);
  // theta_jc += by_j times[c] and G_jc += value_j residual[c], for a row that comes; for one that
  // goes the caller negates `residual`.
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
