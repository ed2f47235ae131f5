// Body of the kernels; included once by each chain_kernels_<instruction set>.cc with
// WINDHOVER_CHAIN_KERNELS set to the table's name. Everything here has internal linkage and no
// other header's inline functions are used: the linker must never mix code of two instruction sets.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_KERNELS_IMPL_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_KERNELS_IMPL_H_

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/chain_lanes_impl.h"
#include "windhover/samplers/row_blocks/chain_normals_impl.h"
#include "windhover/samplers/row_blocks/step_kernels_impl.h"

// NOLINTBEGIN(misc-definitions-in-headers): each includer is meant to get its own copy.
namespace windhover {
namespace {

template <bool kAll>
void predictors_of(float* const* theta, const float* value, std::size_t count, std::uint32_t first,
                   std::uint32_t lanes, double* eta) {
  Doubles total = load<kAll>(eta + first, lanes);
  for (std::size_t k = 0; k < count; ++k) {
    const Floats at = load<kAll>(theta[k] + first, lanes);
    total += static_cast<double>(value[k]) * __builtin_convertvector(at, Doubles);
  }
  store<kAll>(total, eta + first, lanes);
}

template <bool kAll>
void project_of(const float* scatter, const float* normals, std::size_t count, std::uint32_t chains,
                std::uint32_t first, std::uint32_t lanes, float* along) {
  Floats total{};
  for (std::size_t k = 0; k < count; ++k) {
    total += scatter[k] * load<kAll>(normals + k * chains + first, lanes);
  }
  store<kAll>(total, along + first, lanes);
}

template <bool kAll>
void step_of(const ChainColumns& b, const float* normals, const float* taken, const float* moved,
             const float* change, std::uint32_t chains, std::uint32_t first, std::uint32_t lanes,
             ChainSums& sums) {
  const Floats taken_here = load<kAll>(taken + first, lanes);
  const Floats moved_here = load<kAll>(moved + first, lanes);
  const Floats change_here = load<kAll>(change + first, lanes);
  Floats apart{};
  Floats own{};
  Floats slope{};
  for (std::size_t k = 0; k < b.count; ++k) {
    float* const at = b.theta[k] + first;
    const Floats theta = load<kAll>(at, lanes);
    const Floats force = load<kAll>(at + chains, lanes);
    const Floats of_prior = b.precision[k] * theta;
    const Floats of_rows = force + b.repeats[k] * moved_here;
    const Floats gradient = of_prior + of_rows;
    apart += b.informed[k] * ((theta - next<kAll>(theta, lanes)) * gradient);
    own += b.learned[k] * (theta * gradient);
    slope += b.per_row[k] * (theta * of_rows);
    const Floats normal = load<kAll>(normals + k * chains + first, lanes);
    const Floats noise = b.noise_sd[k] * (normal - taken_here * b.scatter[k]);
    store<kAll>(theta + (noise - b.step[k] * gradient), at, lanes);
    store<kAll>(force + b.value[k] * change_here, at + chains, lanes);
  }
  sums.apart += sum(apart);
  sums.own += sum(own);
  sums.slope += sum(slope);
}

// Sums over the chains of a column: of theta, of its square and of G. theta is taken less that of
// the first chain, so that squares lose no digits where chains are close together.
struct Moments {
  float sum = 0;
  float squares = 0;
  float force = 0;
};

template <bool kAll>
void add_moments(const float* theta, std::uint32_t chains, std::uint32_t first, std::uint32_t lanes,
                 Moments& moments) {
  Floats apart = load<kAll>(theta + first, lanes) - theta[0];
  if constexpr (!kAll) {
    for (std::uint32_t i = lanes; i < kLanes; ++i) apart[i] = 0;
  }
  moments.sum += quick_sum(apart);
  moments.squares += quick_sum(apart * apart);
  moments.force += quick_sum(load<kAll>(theta + chains + first, lanes));
}

template <bool kAll>
void translate_of(float* const* theta, const float* by, const float* times, const float* value,
                  const float* residual, std::size_t count, std::uint32_t chains,
                  std::uint32_t first, std::uint32_t lanes) {
  const Floats far = load<kAll>(times + first, lanes);
  const Floats here = load<kAll>(residual + first, lanes);
  for (std::size_t k = 0; k < count; ++k) {
    float* const at = theta[k] + first;
    store<kAll>(load<kAll>(at, lanes) + by[k] * far, at, lanes);
    store<kAll>(load<kAll>(at + chains, lanes) + value[k] * here, at + chains, lanes);
  }
}

void predictors(float* const* theta, const float* value, std::size_t count, std::uint32_t chains,
                double* eta) {
  in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
    predictors_of<kAll>(theta, value, count, first, lanes, eta);
  });
}

void project(const float* scatter, const float* normals, std::size_t count, std::uint32_t chains,
             float* along) {
  in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
    project_of<kAll>(scatter, normals, count, chains, first, lanes, along);
  });
}

ChainSums step(const ChainColumns& columns, const float* normals, const float* taken,
               const float* moved, const float* change, std::uint32_t chains) {
  ChainSums sums{0, 0, 0};
  in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
    step_of<kAll>(columns, normals, taken, moved, change, chains, first, lanes, sums);
  });
  return sums;
}

void moments(const float* const* theta, std::size_t count, std::uint32_t chains, float* mean,
             float* square) {
  const float share_of_one = 1.0F / static_cast<float>(chains);
  for (std::size_t k = 0; k < count; ++k) {
    Floats sum{};
    Floats squares{};
    in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
      const Floats here = load<kAll>(theta[k] + first, lanes);
      sum += here;
      squares += here * here;
    });
    mean[k] = share_of_one * quick_sum(sum);
    square[k] = share_of_one * quick_sum(squares);
  }
}

ColumnSurvey survey(const float* const* theta, const float* precision, const float* curvature,
                    const float* rows, const float* unsettled, std::size_t count,
                    std::uint32_t chains, float dispersion) {
  const float share_of_one = 1.0F / static_cast<float>(chains);
  const float per_dispersion = 1.0F / dispersion;
  float mean[kSurveyedColumns] = {};
  float variance[kSurveyedColumns];
  float force[kSurveyedColumns];
  for (std::size_t j = 0; j < count; ++j) {
    Moments moments;
    in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
      add_moments<kAll>(theta[j], chains, first, lanes, moments);
    });
    const float off = share_of_one * moments.sum;
    mean[j] = theta[j][0] + off;
    variance[j] = share_of_one * moments.squares - off * off;
    force[j] = share_of_one * moments.force;
  }
  float weights[kSurveyedColumns];
  float squares[kSurveyedColumns];
  float informed[kSurveyedColumns];
  float shared[kSurveyedColumns];
  for (std::size_t j = 0; j < count; ++j) {
    const float all = precision[j] + curvature[j];
    const float share = curvature[j] / all;
    const float pull = precision[j] * mean[j] + force[j];
    // The chains' variance over 1 / (lambda_j + H_j), which it would be were all other columns
    // known.
    const float spread = per_dispersion * all * variance[j];
    const float others = spread > 1 ? (spread - 1) / spread : 0;
    weights[j] = share * rows[j];
    squares[j] = per_dispersion * weights[j] * (pull * (pull / all));
    informed[j] = share;
    shared[j] = share * others;
  }
  ColumnSurvey sums{0, 0, 0, 0, 0};
  for (std::size_t j = 0; j < count; ++j) {
    sums.weights += static_cast<double>(weights[j]);
    sums.squares += static_cast<double>(squares[j]);
    sums.unsettled += static_cast<double>(weights[j] * unsettled[j]);
    sums.informed += static_cast<double>(informed[j]);
    sums.shared += static_cast<double>(shared[j]);
  }
  return sums;
}

void copy(const float* chains_of_columns, const std::uint32_t* columns, std::size_t count,
          std::uint32_t chains, float scale, float* out, std::size_t stride) {
  constexpr std::size_t kAhead = 12;
  for (std::size_t j = 0; j < count; ++j) {
    // The hint (locality 0) keeps the draw out of the caches, which are for the columns of rows.
    if (j + kAhead < count) __builtin_prefetch(out + columns[j + kAhead] * stride, 0, 0);
    const float* const theta = chains_of_columns + std::size_t{2} * chains * columns[j];
    float* const to = out + columns[j] * stride;
    in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
      store<kAll>(scale * load<kAll>(theta + first, lanes), to + first, lanes);
    });
  }
}

void translate(float* const* theta, const float* by, const float* times, const float* value,
               const float* residual, std::size_t count, std::uint32_t chains) {
  in_lanes(chains, [&]<bool kAll>(std::uint32_t first, std::uint32_t lanes) {
    translate_of<kAll>(theta, by, times, value, residual, count, chains, first, lanes);
  });
}

}  // namespace

const ChainKernels WINDHOVER_CHAIN_KERNELS = {normals,    balance,  direction, steps,
                                              predictors, logistic, moments,   project,
                                              step,       survey,   copy,      translate};

}  // namespace windhover
// NOLINTEND(misc-definitions-in-headers)

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_CHAIN_KERNELS_IMPL_H_
