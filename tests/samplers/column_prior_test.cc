// What holds columns beside their rows.
#include "windhover/samplers/row_blocks/column_prior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "windhover/tests/samplers/support.h"

namespace windhover::column_prior_test {
namespace {

constexpr std::uint32_t kFeatures = 5;

ModelConfig model_of(const char* name) {
  ModelConfig model;
  model.name = name;
  model.features = kFeatures;
  model.max_nonzeros = 25;
  model.prior_precision = 2;
  model.intercept_precision = 0.5;
  model.noise_variance = 0.25;
  return model;
}

class Prior {
 public:
  explicit Prior(const ModelConfig& model, std::uint64_t past = 0)
      : positions_(memory_.arena(), model.columns(), 1, model.intercept),
        columns_(memory_.arena(), model.columns()),
        noise_(model, 1),
        prior_(memory_.arena(), model, past, positions_, columns_, noise_) {
    positions_.reset();
    columns_.reset();
    noise_.set_units({});
    prior_.reset();
  }
  ColumnPrior* operator->() { return &prior_; }
  ColumnTable& columns() { return columns_; }

 private:
  Memory memory_;
  ChainPositions positions_;
  ColumnTable columns_;
  RowNoise noise_;
  ColumnPrior prior_;
};

TEST(ColumnPrior, PullIsThatOfForcesAtDispersionOne) {
  Prior prior(model_of("linear"));
  prior.columns().set_relevance(1, 3);
  prior.columns().set_relevance(kFeatures, 3);  // the intercept's precision is its own
  EXPECT_EQ(prior->of(0), 2);
  EXPECT_EQ(prior->of(1), 6);
  EXPECT_EQ(prior->of(kFeatures), 0.5);
  EXPECT_EQ(prior->pull(1), 1.5);
  EXPECT_EQ(prior->pull(kFeatures), 0.125);
  EXPECT_EQ(prior->memory(), 0);
}

TEST(ColumnPrior, ThePastPullsBeside) {
  Prior prior(model_of("logistic"), 1'000);
  prior->past().of(2) = {0.5, 4, 0};
  EXPECT_EQ(prior->of(2), 2);
  EXPECT_EQ(prior->pull(2), 6);
  EXPECT_EQ(prior->pull(1), 2);
  EXPECT_GT(prior->memory(), 0);
  prior->reset();
  EXPECT_EQ(prior->pull(2), 2);
}

// Learned it begins where predictors of rows have a sd of 2.5, but with no less than what is given;
// given it does not go anywhere.
TEST(ColumnPrior, BeginsAtWhatRowsHave) {
  ModelConfig model = model_of("logistic");
  EXPECT_EQ(Prior(model)->precision().value(), 2);
  EXPECT_FALSE(Prior(model)->is_learned());
  model.learn_prior_precision = true;
  Prior prior(model);
  EXPECT_TRUE(prior->is_learned());
  EXPECT_EQ(prior->precision().value(), 4);
  EXPECT_EQ(prior->start(50), 8);
  EXPECT_EQ(prior->start(1), 2);
}

// The past fades by the memory that has predicted best.
TEST(ColumnPrior, RowsAreCounted) {
  const ModelConfig model = model_of("logistic");
  Prior prior(model, 1'000);
  prior->past().of(2) = {0.5, 4, 0};
  const RowLayout layout(model);
  std::vector<double> row(layout.stride());
  row[RowLayout::kCountIndex] = 0;
  for (int i = 0; i < 10; ++i) {
    prior->take(RowColumns(layout, RowLikelihood(model), true, row.data()));
  }
  EXPECT_EQ(prior->past().rows(), 10U);
  EXPECT_NEAR(prior->past().faded(prior->past().of(2)), 4 * std::exp(-10 / prior->memory()), 1e-6);
}

}  // namespace
}  // namespace windhover::column_prior_test
