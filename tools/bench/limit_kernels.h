// Plain loops that show what the processor can do, compiled for each instruction set as the
// library's own kernels are: the limits that the suites compare with.
#ifndef WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_H_
#define WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_H_

#include <cstddef>

namespace windhover {

struct LimitKernels {
  // Reads `count` doubles (a multiple of 128) in order.
  double (*read)(const double* data, std::size_t count);
  // Multiplies and adds in registers; flops_* are the operations of one round.
  double (*fma_double)(std::size_t rounds, double factor, double term);
  std::size_t flops_double;
  float (*fma_float)(std::size_t rounds, float factor, float term);
  std::size_t flops_float;
  // y <- A x. A lies in strips of rows, each strip column after column, so that nothing is summed
  // across a register, however short the rows are. `rows` is rounded up to whole registers (at most
  // 8 doubles), and A and y have room for them; A is aligned to 64 bytes.
  void (*gemv)(const double* a, std::size_t rows, std::size_t columns, const double* x, double* y);
  // The lower triangle of C <- C + X^T X, in blocks; some entries around it are written too, to
  // whole registers. X is rows x columns. Its rows and the columns of C are `width` doubles apart,
  // which is `columns` rounded up to a multiple of 8; both are aligned to 64 bytes.
  void (*syrk)(const double* x, std::size_t rows, std::size_t columns, std::size_t width,
               double* c);
};

// The table for instruction_set().
const LimitKernels& limit_kernels() noexcept;

extern const LimitKernels kLimitKernelsBaseline;
extern const LimitKernels kLimitKernelsAvx2;
extern const LimitKernels kLimitKernelsAvx512;

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_H_
