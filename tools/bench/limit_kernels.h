// Plain loops that show what the processor can do, compiled once an instruction set like the
// library's own kernels: what these take is the limit that the suites compare with.
#ifndef WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_H_
#define WINDHOVER_TOOLS_BENCH_LIMIT_KERNELS_H_

#include <cstddef>

namespace windhover {

struct LimitKernels {
  // Reads `count` doubles (a multiple of 128) in order.
  double (*read)(const double* data, std::size_t count);
  // Multiplies and adds in registers; `flops` of one round.
  double (*fma_double)(std::size_t rounds, double factor, double term);
  std::size_t flops_double;
  float (*fma_float)(std::size_t rounds, float factor, float term);
  std::size_t flops_float;
  // y <- A x. A lies in strips of rows, strip after strip, and in each column after column: so
  // nothing has to be summed across a register, however short the rows are. `rows` is rounded up to
  // whole registers (at most 8 doubles), and A and y have room for them; A begins at 64 bytes.
  void (*gemv)(const double* a, std::size_t rows, std::size_t columns, const double* x, double* y);
  // The lower triangle of C <- C + X^T X (and something above and below it, to whole registers), in
  // blocks. X is rows x columns, each row at a multiple of `width` doubles, as each column of C is;
  // `width` is `columns` rounded up to a multiple of 8; both begin at 64 bytes.
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
