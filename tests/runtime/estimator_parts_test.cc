// The parts of the estimator, each alone: two sets of sums, hyper-parameters, the search for a
// mode.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "windhover/runtime/learning/hyper_parameters.h"
#include "windhover/runtime/learning/mode_search.h"
#include "windhover/runtime/learning/pass_sums.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::estimator_parts_test {
namespace {

constexpr std::uint32_t kFeatures = 3;
constexpr std::uint32_t kDimension = kFeatures + 1;

class Parts {
 public:
  explicit Parts(const char* name, bool learn = false)
      : config_(configuration(name, learn)),
        block_(4 << 20),
        arena(block_.bytes()),
        laplace(arena, config_),
        sums(arena, kDimension, find_model(name)->response, false, false, false),
        hyper(arena, config_, laplace) {
    model = find_model(name)->make(arena, config_);
    find_model(name)->reset(*model);
    hyper.reset(config_);
    laplace.clear_mode();
    sums.start_over(laplace.mode(), hyper.dispersion().value());
    const RowLayout layout(config_);
    rows_.resize(400 * layout.stride());
    slots_.resize(400);
    std::iota(slots_.begin(), slots_.end(), 0U);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const VectorXd z = normals(i, kDimension);
      double* row = rows_.data() + i * layout.stride();
      for (Index j = 0; j < kFeatures; ++j) row[j] = z[j];
      const double y = 0.5 + z[0] - 0.5 * z[1] + z[kFeatures];
      row[kFeatures] = find_model(name)->response == Response::kBernoulli ? (y > 0 ? 1.0 : 0.0) : y;
    }
  }
  RowBatch rows(std::size_t first, std::size_t count) const {
    return {rows_.data(), slots_.data() + first, count};
  }

 private:
  static ModelConfig configuration(const char* name, bool learn) {
    EngineConfig c = small_config(name, kFeatures, 400);
    c.model.prior_precision = 1;
    c.model.learn_prior_precision = learn;
    if (learn) c.model.noise_variance = 0;
    return with_defaults(c).model;
  }

  ModelConfig config_;
  MappedBlock block_;
  std::vector<double> rows_;
  std::vector<std::uint32_t> slots_;

 public:
  Arena arena;
  LaplaceApproximation laplace;
  PassSums sums;
  HyperParameters hyper;
  Model* model = nullptr;
};

TEST(PassSums, EndOfAPassTakesThePlaceOfTheLast) {
  Parts parts("linear");
  parts.sums.pass().add(*parts.model, parts.rows(0, 30), nullptr);
  EXPECT_EQ(parts.sums.done().rows(), 0);
  parts.sums.end_pass();
  EXPECT_EQ(parts.sums.done().rows(), 30);
  EXPECT_EQ(parts.sums.pass().rows(), 0);
}

TEST(PassSums, WhatWasKeptComesBackToTheBit) {
  Parts parts("linear");
  AnchorSums& done = parts.sums.done();
  done.add(*parts.model, parts.rows(0, 30), nullptr);
  const double before = done.sums().gradient[1];
  parts.sums.keep();
  done.add(*parts.model, parts.rows(30, 30), nullptr);
  EXPECT_NE(done.sums().gradient[1], before);
  parts.sums.restore();
  EXPECT_EQ(done.rows(), 30);
  EXPECT_EQ(done.sums().gradient[1], before);
  parts.sums.start_over(parts.laplace.mode(), 2);
  EXPECT_EQ(done.rows() + parts.sums.pass().rows(), 0);
  EXPECT_EQ(done.dispersion(), 2);
}

// A is then of what has been learned; noise of variance 1 is found within 4 standard errors.
TEST(HyperParameters, LeadToTheGaussianThatTheyAreOf) {
  Parts parts("linear", true);
  const AnchorSums& done = parts.sums.done();
  parts.sums.done().add(*parts.model, parts.rows(0, 400), nullptr);
  parts.laplace.begin(400, 1, nullptr);
  ASSERT_EQ(parts.laplace.compute_curvature(parts.hyper.input(done, nullptr)), Status::kOk);
  EXPECT_TRUE(parts.hyper.learned());
  ASSERT_EQ(parts.hyper.update(done, 2.25, 1e300, nullptr), Status::kOk);
  EXPECT_NEAR(parts.hyper.dispersion().value(), 1, 4 * std::sqrt(2.0 / 400));
  EXPECT_NE(parts.hyper.prior().values()[0], 1);
  for (std::uint32_t j = 0; j < kDimension; ++j) {
    const double diagonal = *done.curvature_below(j) / (400 * parts.hyper.dispersion().value()) +
                            parts.hyper.prior().values()[j] / 400;
    EXPECT_NEAR(parts.laplace.curvature()[j * (kDimension + 1)], diagonal, 1e-12);
  }
  parts.hyper.start_over();
  EXPECT_EQ(parts.hyper.prior().values()[0], 1);
}

// The search goes from the kept sums of some rows, at 0, to the mode of all: there no Newton step
// is left.
TEST(ModeSearch, EndsWhereAllRowsLead) {
  Parts parts("logistic");
  ModeSearch search(parts.arena, kDimension, parts.sums, parts.laplace);
  const AnchorSums& done = parts.sums.done();
  parts.sums.done().add(*parts.model, parts.rows(0, 100), nullptr);
  parts.laplace.begin(400, 1, nullptr);
  const LaplaceApproximation::Input input = parts.hyper.input(done, nullptr);
  ASSERT_EQ(parts.laplace.compute_curvature(input), Status::kOk);
  parts.laplace.compute_covariance(nullptr);
  parts.sums.keep();
  ASSERT_EQ(search.find(*parts.model, parts.rows(100, 300), input, 1), Status::kOk);
  EXPECT_EQ(parts.sums.pass().rows(), 100) << "the kept sums are as they were";
  EXPECT_EQ(done.rows(), 400);
  ASSERT_EQ(parts.laplace.compute_curvature(input), Status::kOk);
  EXPECT_LT(parts.laplace.newton_decrement(), 1e-4);
  EXPECT_NE(done.anchor()[0], 0);
}

}  // namespace
}  // namespace windhover::test::estimator_parts_test
