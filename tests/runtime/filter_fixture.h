// One filter by itself, told rows of three features in batches.
#ifndef WINDHOVER_TESTS_RUNTIME_FILTER_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_FILTER_FIXTURE_H_

#include <numeric>
#include <vector>

#include "windhover/runtime/learning/filtered_posterior.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::filter_test {

inline constexpr std::uint32_t kFeatures = 3;
inline constexpr Index kDimension = kFeatures + 1;
inline constexpr std::size_t kBatch = 5;

struct Shown {
  double dispersion;
  VectorXd centre;
  MatrixXd covariance;
};

// Begins at the prior. `last`: what the filter's constructor takes after the memory.
template <class Kind>
struct Filter {
  template <class Last>
  Filter(const char* name, std::uint64_t rows, double prior_precision, Last last)
      : config(with_defaults(configuration(name, prior_precision))),
        block(4 << 20),
        arena(block.bytes()),
        estimator(arena, config),
        scratch(arena, config.model.dimension()),
        filter(arena, config, estimator, scratch, rows, last) {
    const ModelEntry& entry = *find_model(name);
    model = entry.make(arena, config.model);
    entry.reset(*model);
    estimator.reset(config);
    EXPECT_EQ(estimator.refresh(1.0, 1.0), Status::kOk);  // of no rows: the prior
    filter.reset();
    filter.start(0);
  }
  static EngineConfig configuration(const char* name, double prior_precision) {
    EngineConfig c = small_config(name, kFeatures, 400);
    c.model.prior_precision = c.model.intercept_precision = prior_precision;
    c.model.noise_variance = 1;
    return c;
  }
  void learn(const Data& data, Index first, std::size_t count) {
    const RowLayout layout(config.model);
    std::vector<double> rows(count * layout.stride());
    std::vector<std::uint32_t> slots(count);
    std::iota(slots.begin(), slots.end(), 0U);
    for (std::size_t i = 0; i < count; ++i) {
      double* row = rows.data() + i * layout.stride();
      const Index from = first + static_cast<Index>(i);
      for (Index j = 0; j < Index{kFeatures}; ++j) row[j] = data.x(from, j);
      row[kFeatures] = data.y[from];
    }
    filter.learn({rows.data(), slots.data(), slots.size()}, static_cast<double>(count), *model);
  }
  void learn(const Data& data) {
    for (Index at = 0; at < data.rows(); at += kBatch) {
      before = shown();
      learn(data, at, kBatch);
    }
  }
  Shown shown() const {
    const FilteredPosterior& now = filter.posterior();
    return {now.dispersion(), Eigen::Map<const VectorXd>(now.centre(), kDimension),
            Eigen::Map<const MatrixXd>(now.covariance(), kDimension, kDimension)};
  }

  EngineConfig config;
  MappedBlock block;
  Arena arena;
  Estimator estimator;
  FilterScratch scratch;
  Kind filter;
  Model* model;
  Shown before;  // the newest batch
};

}  // namespace windhover::test::filter_test

#endif  // WINDHOVER_TESTS_RUNTIME_FILTER_FIXTURE_H_
