// Body of the kernels; included once by each kernels_<instruction set>.cc with WINDHOVER_KERNELS
// set to the table's name. Everything here has internal linkage and no other header's inline
// functions are used: the linker must never mix code of two instruction sets.
#ifndef WINDHOVER_SAMPLERS_KERNELS_KERNELS_IMPL_H_
#define WINDHOVER_SAMPLERS_KERNELS_KERNELS_IMPL_H_

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/kernels/kernels_matrix_impl.h"

namespace windhover {
namespace {

// For rows of kBlocks vectors; four rows are taken at a time.
template <std::size_t kBlocks>
void gather_dot_blocks(const double* base, std::size_t stride, const std::uint32_t* slots,
                       std::size_t count, std::size_t following, const double* coefficients,
                       double offset, std::size_t target_index, double* predictors,
                       double* targets) {
  std::size_t i = 0;
  constexpr std::size_t kAhead = 96;  // rows: with a chunk they fill the first cache
  for (; i + 4 <= count; i += 4) {
    if (i + kAhead + 4 <= count + following) {
      for (std::size_t k = i + kAhead; k < i + kAhead + 4; ++k) {
        const double* row = base + slots[k] * stride;
        __builtin_prefetch(row);
        if constexpr (kBlocks > 2) __builtin_prefetch(row + 8);
      }
    }
    const double* r0 = base + slots[i] * stride;
    const double* r1 = base + slots[i + 1] * stride;
    const double* r2 = base + slots[i + 2] * stride;
    const double* r3 = base + slots[i + 3] * stride;
    Vector s0{}, s1{}, s2{}, s3{};
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const Vector c = load(coefficients + b * kLanes);
      s0 += c * load(r0 + b * kLanes);
      s1 += c * load(r1 + b * kLanes);
      s2 += c * load(r2 + b * kLanes);
      s3 += c * load(r3 + b * kLanes);
    }
    store(predictors + i, transpose_sum(s0, s1, s2, s3) + broadcast(offset));
    targets[i] = r0[target_index];
    targets[i + 1] = r1[target_index];
    targets[i + 2] = r2[target_index];
    targets[i + 3] = r3[target_index];
  }
  for (; i < count; ++i) {
    const double* row = base + slots[i] * stride;
    Vector s{};
    for (std::size_t b = 0; b < kBlocks; ++b) {
      s += load(coefficients + b * kLanes) * load(row + b * kLanes);
    }
    predictors[i] = transpose_sum(s, s, s, s)[0] + offset;
    targets[i] = row[target_index];
  }
}

// For rows of any length: wide vectors first, then the rest of the row.
void gather_dot_long(const double* base, std::size_t stride, const std::uint32_t* slots,
                     std::size_t count, std::size_t following, const double* coefficients,
                     double offset, std::size_t target_index, double* predictors, double* targets) {
  const std::size_t whole = stride / kWideLanes * kWideLanes;
  constexpr std::size_t kAhead = 8;             // rows
  constexpr std::size_t kLongestFetched = 256;  // in longer rows the hardware fetches by itself
  const std::size_t known = stride <= kLongestFetched ? count + following : 0;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t k = i + kAhead; i + kAhead + 4 <= known && k < i + kAhead + 4; ++k) {
      const double* row = base + slots[k] * stride;
      for (std::size_t j = 0; j < stride; j += 8) __builtin_prefetch(row + j);
    }
    const double* r0 = base + slots[i] * stride;
    const double* r1 = base + slots[i + 1] * stride;
    const double* r2 = base + slots[i + 2] * stride;
    const double* r3 = base + slots[i + 3] * stride;
    Wide w0{}, w1{}, w2{}, w3{};
    for (std::size_t j = 0; j < whole; j += kWideLanes) {
      const Wide c = load_wide(coefficients + j);
      w0 += c * load_wide(r0 + j);
      w1 += c * load_wide(r1 + j);
      w2 += c * load_wide(r2 + j);
      w3 += c * load_wide(r3 + j);
    }
    Vector s0 = fold(w0), s1 = fold(w1), s2 = fold(w2), s3 = fold(w3);
    for (std::size_t j = whole; j < stride; j += kLanes) {
      const Vector c = load(coefficients + j);
      s0 += c * load(r0 + j);
      s1 += c * load(r1 + j);
      s2 += c * load(r2 + j);
      s3 += c * load(r3 + j);
    }
    store(predictors + i, transpose_sum(s0, s1, s2, s3) + broadcast(offset));
    targets[i] = r0[target_index];
    targets[i + 1] = r1[target_index];
    targets[i + 2] = r2[target_index];
    targets[i + 3] = r3[target_index];
  }
  for (; i < count; ++i) {
    const double* row = base + slots[i] * stride;
    Wide w{};
    for (std::size_t j = 0; j < whole; j += kWideLanes) {
      w += load_wide(coefficients + j) * load_wide(row + j);
    }
    Vector s = fold(w);
    for (std::size_t j = whole; j < stride; j += kLanes)
      s += load(coefficients + j) * load(row + j);
    predictors[i] = transpose_sum(s, s, s, s)[0] + offset;
    targets[i] = row[target_index];
  }
}

void gather_dot(const double* base, std::size_t stride, const std::uint32_t* slots,
                std::size_t count, std::size_t following, const double* coefficients, double offset,
                std::size_t target_index, double* predictors, double* targets) {
  switch (stride / kLanes) {
    case 1:
      return gather_dot_blocks<1>(base, stride, slots, count, following, coefficients, offset,
                                  target_index, predictors, targets);
    case 2:
      return gather_dot_blocks<2>(base, stride, slots, count, following, coefficients, offset,
                                  target_index, predictors, targets);
    case 3:
      return gather_dot_blocks<3>(base, stride, slots, count, following, coefficients, offset,
                                  target_index, predictors, targets);
    case 4:
      return gather_dot_blocks<4>(base, stride, slots, count, following, coefficients, offset,
                                  target_index, predictors, targets);
    default:
      return gather_dot_long(base, stride, slots, count, following, coefficients, offset,
                             target_index, predictors, targets);
  }
}

// The sum stays in registers.
template <std::size_t kBlocks>
void gather_axpy_blocks(const double* base, std::size_t stride, const std::uint32_t* slots,
                        std::size_t count, const double* weights, double* total) {
  Vector even[kBlocks];
  Vector odd[kBlocks];
  for (std::size_t b = 0; b < kBlocks; ++b) {
    even[b] = load(total + b * kLanes);
    odd[b] = Vector{};
  }
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    const double* r0 = base + slots[i] * stride;
    const double* r1 = base + slots[i + 1] * stride;
    const Vector w0 = broadcast(weights[i]);
    const Vector w1 = broadcast(weights[i + 1]);
    for (std::size_t b = 0; b < kBlocks; ++b) {
      even[b] += w0 * load(r0 + b * kLanes);
      odd[b] += w1 * load(r1 + b * kLanes);
    }
  }
  if (i < count) {
    const double* row = base + slots[i] * stride;
    const Vector w = broadcast(weights[i]);
    for (std::size_t b = 0; b < kBlocks; ++b) even[b] += w * load(row + b * kLanes);
  }
  for (std::size_t b = 0; b < kBlocks; ++b) store(total + b * kLanes, even[b] + odd[b]);
}

void gather_axpy(const double* base, std::size_t stride, const std::uint32_t* slots,
                 std::size_t count, const double* weights, double* total) {
  switch (stride / kLanes) {
    case 1:
      return gather_axpy_blocks<1>(base, stride, slots, count, weights, total);
    case 2:
      return gather_axpy_blocks<2>(base, stride, slots, count, weights, total);
    case 3:
      return gather_axpy_blocks<3>(base, stride, slots, count, weights, total);
    case 4:
      return gather_axpy_blocks<4>(base, stride, slots, count, weights, total);
    default:
      break;
  }
  const std::size_t whole = stride / kWideLanes * kWideLanes;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const double* r0 = base + slots[i] * stride;
    const double* r1 = base + slots[i + 1] * stride;
    const double* r2 = base + slots[i + 2] * stride;
    const double* r3 = base + slots[i + 3] * stride;
    const Wide w0 = broadcast_wide(weights[i]);
    const Wide w1 = broadcast_wide(weights[i + 1]);
    const Wide w2 = broadcast_wide(weights[i + 2]);
    const Wide w3 = broadcast_wide(weights[i + 3]);
    for (std::size_t j = 0; j < whole; j += kWideLanes) {
      store_wide(total + j,
                 (load_wide(total + j) + w0 * load_wide(r0 + j) + w1 * load_wide(r1 + j)) +
                     (w2 * load_wide(r2 + j) + w3 * load_wide(r3 + j)));
    }
    for (std::size_t j = whole; j < stride; j += kLanes) {
      store(total + j, (load(total + j) + broadcast(weights[i]) * load(r0 + j) +
                        broadcast(weights[i + 1]) * load(r1 + j)) +
                           (broadcast(weights[i + 2]) * load(r2 + j) +
                            broadcast(weights[i + 3]) * load(r3 + j)));
    }
  }
  for (; i < count; ++i) {
    const double* row = base + slots[i] * stride;
    const Vector w = broadcast(weights[i]);
    for (std::size_t j = 0; j < stride; j += kLanes) {
      store(total + j, load(total + j) + w * load(row + j));
    }
  }
}

void gather_squares(const double* base, std::size_t stride, const std::uint32_t* slots,
                    std::size_t count, const double* weights, const double* shift, double* total) {
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    const double* r0 = base + slots[i] * stride;
    const double* r1 = base + slots[i + 1] * stride;
    const Vector w0 = broadcast(weights[i]);
    const Vector w1 = broadcast(weights[i + 1]);
    for (std::size_t j = 0; j < stride; j += kLanes) {
      const Vector s = load(shift + j);
      const Vector x0 = load(r0 + j) - s;
      const Vector x1 = load(r1 + j) - s;
      store(total + j, load(total + j) + (w0 * x0 * x0 + w1 * x1 * x1));
    }
  }
  if (i < count) {
    const double* row = base + slots[i] * stride;
    const Vector w = broadcast(weights[i]);
    for (std::size_t j = 0; j < stride; j += kLanes) {
      const Vector x = load(row + j) - load(shift + j);
      store(total + j, load(total + j) + w * x * x);
    }
  }
}

void sigmoid(const double* x, std::size_t count, double* p) {
  std::size_t i = 0;
  for (; i + kWideLanes <= count; i += kWideLanes) {
    store_wide(p + i, sigmoid_vector(load_wide(x + i)));
  }
  for (; i + kLanes <= count; i += kLanes) store(p + i, sigmoid_vector(load(x + i)));
  for (; i < count; ++i) p[i] = sigmoid_vector(broadcast(x[i]))[0];
}

void normal_mixture(const double* squares, const double* added, std::size_t count,
                    const double* variances, const double* weights, std::size_t components,
                    double* density) {
  const auto of = [&](auto square, auto more) {
    return normal_mixture_vector(square, more, variances, weights, components);
  };
  std::size_t i = 0;
  for (; i + kWideLanes <= count; i += kWideLanes) {
    store_wide(density + i, of(load_wide(squares + i), load_wide(added + i)));
  }
  for (; i + kLanes <= count; i += kLanes)
    store(density + i, of(load(squares + i), load(added + i)));
  for (; i < count; ++i) density[i] = of(broadcast(squares[i]), broadcast(added[i]))[0];
}

}  // namespace

const Kernels WINDHOVER_KERNELS = {
    gather_dot,        gather_axpy,    gather_squares,     sigmoid,
    normal_mixture,    weighted_outer, triangular_product, triangular_transposed_product,
    symmetric_product, multiply_add};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_KERNELS_KERNELS_IMPL_H_
