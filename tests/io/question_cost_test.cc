#include "windhover/io/question_cost.h"

#include <gtest/gtest.h>

namespace windhover {
namespace question_cost_test {

EngineConfig engine_of(const char* model, std::uint32_t features) {
  EngineConfig engine;
  engine.model.name = model;
  engine.model.features = features;
  return engine;
}

// R is read a second time, for each class, and for each row alone.
TEST(QuestionCost, APredictionThatMayBeWiderReadsTheFactorTwice) {
  for (const char* model : {"linear", "logistic", "softmax", "heteroscedastic", "poisson"}) {
    EngineConfig engine = engine_of(model, 999);
    engine.model.classes = 3;
    const std::string name = model;
    const std::int64_t times = name == "softmax" ? 3 : name == "heteroscedastic" ? 2 : 1;
    const std::int64_t dimension = engine.model.dimension();
    const QuestionCost wider = question_cost(engine);
    EXPECT_EQ(wider.wider_ns, times * (dimension * dimension / 2) / 5) << model;
    engine.dependent_spread = DependentSpread::kPosterior;
    const QuestionCost own = question_cost(engine);
    EXPECT_EQ(own.wider_ns, 0) << model;
    EXPECT_EQ(own.row_ns, wider.row_ns) << model;
    PredictQuery query;
    query.rows = 7;
    EXPECT_EQ(wider.of(query) - own.of(query), 7 * wider.wider_ns) << model;
    query.posterior_spread = true;
    EXPECT_EQ(wider.of(query), own.of(query)) << "it is not made wider: " << model;
  }
}

TEST(QuestionCost, WithoutAFactorNothingIsReadTwice) {
  EXPECT_EQ(question_cost(engine_of("mlp-linear", 10)).wider_ns, 0);
  EngineConfig diagonal = engine_of("logistic", 1'000'000);
  diagonal.model.max_nonzeros = 8;
  diagonal.structure = Structure::kDiagonal;
  EXPECT_EQ(question_cost(diagonal).wider_ns, 0);
}

}  // namespace question_cost_test
}  // namespace windhover
