// The inner loops over dense rows, compiled once for each instruction set and chosen at run time,
// so that one binary serves every x86-64. Plain pointers only. Results may differ in the last bits
// between instruction sets (fused multiply-add), never within one.
#ifndef WINDHOVER_SAMPLERS_KERNELS_KERNELS_H_
#define WINDHOVER_SAMPLERS_KERNELS_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace windhover {

inline constexpr std::size_t kSymmetricBlock = 4;

// `stride` is the row length in doubles, a multiple of 4; `coefficients` and `sum` hold `stride`
// doubles. `slots` name rows: row i starts at base + slots[i] * stride.
struct Kernels {
  // predictors[i] = offset + row_i . coefficients; targets[i] = row_i[target_index]. Fetches rows
  // ahead, up to those of `following` slots after these.
  void (*gather_dot)(const double* base, std::size_t stride, const std::uint32_t* slots,
                     std::size_t count, std::size_t following, const double* coefficients,
                     double offset, std::size_t target_index, double* predictors, double* targets);
  // sum += sum_i weights[i] row_i.
  void (*gather_axpy)(const double* base, std::size_t stride, const std::uint32_t* slots,
                      std::size_t count, const double* weights, double* sum);
  // sum += sum_i weights[i] (row_i - shift)^2, entry by entry; `shift` holds `stride` doubles.
  void (*gather_squares)(const double* base, std::size_t stride, const std::uint32_t* slots,
                         std::size_t count, const double* weights, const double* shift,
                         double* sum);
  // p = 1 / (1 + exp(-x)); p may be x. The relative error is below 1e-14 for x >= -708, below which
  // p is exp(-708). A NaN gives NaN. 1 - p is as accurate only when computed as the sigmoid of -x.
  void (*sigmoid)(const double* x, std::size_t count, double* p);
  // density[i] = sum_j weights[j] exp(-squares[i] / (2 v)) / sqrt(v), v = variances[j] + added[i] >
  // 0: a mixture of normals, up to a constant. A term whose exponent is below -708 is 0; a NaN
  // gives NaN. Relative error below 1e-13.
  void (*normal_mixture)(const double* squares, const double* added, std::size_t count,
                         const double* variances, const double* weights, std::size_t components,
                         double* density);
  // matrix += sum_i weights[i] x_i x_i^T, lower triangle (some entries above it are written too).
  // rows: count x width, width a multiple of 4; matrix: width x width column-major. `scaled` is
  // scratch of count x width doubles.
  void (*weighted_outer)(const double* rows, std::size_t width, std::size_t count,
                         const double* weights, double* scaled, double* matrix);
  // y += L x and y += scale L^T x, L lower triangular, d x d column-major, zeros above the
  // diagonal.
  void (*triangular_product)(const double* lower, std::size_t d, const double* x, double* y);
  void (*triangular_transposed_product)(const double* lower, std::size_t d, double scale,
                                        const double* x, double* y);
  // y += scale M x, M symmetric, d x d, column-major. Reads the lower triangle, and the blocks of
  // kSymmetricBlock rows and columns on the diagonal in full.
  void (*symmetric_product)(const double* matrix, std::size_t d, double scale, const double* x,
                            double* y);
  // c += a b, where a is rows x terms and b is terms x columns. Rows of b and c are contiguous, and
  // b_stride and c_stride doubles apart. Entry (i, t) of a is at a[i * a_row + t * a_term], so that
  // a may be a transpose.
  void (*multiply_add)(const double* a, std::size_t a_row, std::size_t a_term, const double* b,
                       std::size_t b_stride, double* c, std::size_t c_stride, std::size_t rows,
                       std::size_t columns, std::size_t terms);
};

// The table for instruction_set().
const Kernels& kernels() noexcept;

extern const Kernels kKernelsBaseline;
extern const Kernels kKernelsAvx2;
extern const Kernels kKernelsAvx512;

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_KERNELS_KERNELS_H_
