// Body of the kernels; included once by each prediction_kernels_<instruction set>.cc with
// WINDHOVER_PREDICTION_KERNELS set to the table's name. The rules of
// samplers/kernels/kernels_impl.h hold.
#ifndef WINDHOVER_RUNTIME_PREDICTION_PREDICTION_KERNELS_IMPL_H_
#define WINDHOVER_RUNTIME_PREDICTION_PREDICTION_KERNELS_IMPL_H_

#include "windhover/runtime/prediction/prediction_kernels.h"
#include "windhover/samplers/kernels/kernels_vector_impl.h"

namespace windhover {
namespace {

double dot(const double* a, const double* b, std::size_t count) {
  Wide s0{}, s1{};
  std::size_t i = 0;
  for (; i + 2 * kWideLanes <= count; i += 2 * kWideLanes) {
    s0 += load_wide(a + i) * load_wide(b + i);
    s1 += load_wide(a + i + kWideLanes) * load_wide(b + i + kWideLanes);
  }
  double total = sum(fold(s0 + s1));
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

void shift(double* values, std::size_t count, double by) {
  std::size_t i = 0;
  for (; i + kWideLanes <= count; i += kWideLanes) {
    store_wide(values + i, load_wide(values + i) + broadcast_wide(by));
  }
  for (; i < count; ++i) values[i] += by;
}

void keep_best(const double* values, std::size_t count, double candidate, double* best,
               double* winner) {
  std::size_t i = 0;
  for (; i + kWideLanes <= count; i += kWideLanes) {
    const Wide v = load_wide(values + i);
    const Wide b = load_wide(best + i);
    store_wide(winner + i, v > b ? broadcast_wide(candidate) : load_wide(winner + i));
    store_wide(best + i, v > b ? v : b);
  }
  for (; i < count; ++i) {
    if (!(values[i] > best[i])) continue;
    best[i] = values[i];
    winner[i] = candidate;
  }
}

double shortfall(const double* best, const double* values, std::size_t count) {
  Wide wide{};
  std::size_t i = 0;
  for (; i + kWideLanes <= count; i += kWideLanes) {
    wide += load_wide(best + i) - load_wide(values + i);
  }
  double total = sum(fold(wide));
  for (; i < count; ++i) total += best[i] - values[i];
  return total;
}

// log(1 + e) for e in [0, 1]: 2 artanh(t), t = e / (2 + e), which is at most 1/3, so that the terms
// left out are below 2e-15 of it.
template <class V>
inline V log_one_plus(V e) {
  const V t = e / (2.0 + e);
  const V square = t * t;
  V series = broadcast_as<V>(1.0 / 27);
  series = series * square + 1.0 / 25;
  series = series * square + 1.0 / 23;
  series = series * square + 1.0 / 21;
  series = series * square + 1.0 / 19;
  series = series * square + 1.0 / 17;
  series = series * square + 1.0 / 15;
  series = series * square + 1.0 / 13;
  series = series * square + 1.0 / 11;
  series = series * square + 1.0 / 9;
  series = series * square + 1.0 / 7;
  series = series * square + 1.0 / 5;
  series = series * square + 1.0 / 3;
  return 2.0 * (t + t * square * series);
}

// With e = exp(-|eta|) the larger of p and 1 - p is 1 / (1 + e), the smaller e times that, and
// their entropy log(1 + e) + |eta| times the smaller.
void sigmoid_sums(double m, double s, const double* z, const double* weight, std::size_t count,
                  double* sums) {
  Wide mean{}, other{}, product{}, entropy{};
  for (std::size_t i = 0; i < count; i += kWideLanes) {
    const Wide eta = m + s * load_wide(z + i);
    const Wide w = load_wide(weight + i);
    Wide size = eta < 0.0 ? -eta : eta;
    size = size > 708.0 ? broadcast_wide(708.0) : size;
    const Wide e = exp_nonpositive(-size);
    const Wide larger = 1.0 / (1.0 + e);
    const Wide smaller = e * larger;
    mean += w * (eta < 0.0 ? smaller : larger);
    other += w * (eta < 0.0 ? larger : smaller);
    product += w * larger * smaller;
    entropy += w * (log_one_plus(e) + size * smaller);
  }
  sums[0] = sum(fold(mean));
  sums[1] = sum(fold(other));
  sums[2] = sum(fold(product));
  sums[3] = sum(fold(entropy));
}

}  // namespace

const PredictionKernels WINDHOVER_PREDICTION_KERNELS = {dot, shift, keep_best, shortfall,
                                                        sigmoid_sums};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_PREDICTION_KERNELS_IMPL_H_
