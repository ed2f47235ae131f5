// What the posteriors of counts are asked alike.
#ifndef WINDHOVER_TESTS_RUNTIME_COUNT_POSTERIORS_H_
#define WINDHOVER_TESTS_RUNTIME_COUNT_POSTERIORS_H_

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test {

// A hundred rows a second, the learner keeping up, so that all of them are scored.
inline void feed_by_hundreds(TestEngine& engine, ManualClock& clock, const Data& data) {
  for (Index i = 0; i < data.rows(); i += 100) {
    engine.feed(data, i, i + 100);
    engine.poll_until_idle();
    clock.advance_ns(1'000'000'000);
  }
}

// 90 % intervals of the model that `config` names hold the outcomes of its own rows, and the
// answers are ok; those of `poisson` hold too few, and the answers say so.
inline void expect_intervals_hold_where_poissons_do_not(EngineConfig config, const Data& data) {
  config.score_predictions = true;
  for (const std::string_view model : {std::string_view("poisson"), config.model.name}) {
    config.model.name = model;
    ManualClock clock(1);
    TestEngine engine(config, &clock);
    feed_by_hundreds(engine, clock, data);
    const Provenance p = engine.provenance();
    if (model == "poisson") {
      EXPECT_LT(p.coverage_90, 0.75);
      EXPECT_NE(p.status, PosteriorStatus::kOk);
    } else {
      EXPECT_NEAR(p.coverage_90, 0.9, 4 * std::sqrt(0.09 / 500));
      EXPECT_EQ(p.status, PosteriorStatus::kOk) << to_string(p.reason);
    }
  }
}

// Asks before every row, for models of two features.
inline void expect_every_answer_is_finite(const EngineConfig& config, const Data& data,
                                          std::span<const double> outcomes,
                                          std::span<const double> trials = {}) {
  TestEngine engine(config);
  constexpr std::array<double, 4> kX = {1, 2, 100, -100};
  PredictRequest request = question(2, kX, outcomes);
  request.trials = trials;
  for (Index n = 0; n < data.rows(); ++n) {
    for (const PredictiveSummary& s : engine.answers(request)) {
      EXPECT_TRUE(std::isfinite(s.mean + s.sd + s.epred_sd + s.log_score + s.pit)) << n;
      EXPECT_LE(s.interval_lower, s.interval_upper);
    }
    engine.feed(data, n, n + 1);
    engine.poll_until_idle();
  }
}

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_COUNT_POSTERIORS_H_
