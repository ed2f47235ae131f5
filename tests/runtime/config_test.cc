#include "windhover/runtime/config.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "windhover/runtime/engine.h"

namespace windhover::config_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array<double, 3> kTwoAndABadOne = {1, 1, 0};
constexpr std::array<double, 3> kShiftWithNan = {0, kNan, 0};
constexpr std::array<double, 3> kOnes = {1, 1, 1};
constexpr std::array<std::uint32_t, 3> kGroups = {0, 1, 0};
constexpr std::array<std::uint32_t, 3> kGroupsWithABadOne = {0, 1, 3};

EngineConfig good() {
  EngineConfig config;
  config.model.features = 3;
  return config;
}

struct Violation {
  const char* field;
  std::function<void(EngineConfig&)> commit;
};

std::vector<Violation> violations() {
  std::vector<Violation> v;
  const auto add = [&v](const char* field, std::function<void(EngineConfig&)> commit) {
    v.push_back({field, std::move(commit)});
  };
  add("model.name", [](EngineConfig& c) { c.model.name = "quadratic"; });
  add("model.name", [](EngineConfig& c) { c.model.name = ""; });
  add("model.features", [](EngineConfig& c) { c.model.features = 0; });
  add("model.features", [](EngineConfig& c) { c.model.features = 65'537; });
  add("model.max_nonzeros", [](EngineConfig& c) { c.model.max_nonzeros = 4; });
  for (const double bad : {-1.0, kNan, kInfinity}) {
    add("model.prior_precision", [bad](EngineConfig& c) { c.model.prior_precision = bad; });
    add("model.intercept_precision", [bad](EngineConfig& c) { c.model.intercept_precision = bad; });
  }
  for (const double bad : {0.0, -1.0, kNan, kInfinity}) {
    add("sampler.decay_constant", [bad](EngineConfig& c) { c.sampler.decay_constant = bad; });
    add("target_scale", [bad](EngineConfig& c) {
      c.standardize_target = Standardize::kGiven;
      c.target_scale = bad;
    });
  }
  for (const double bad : {-1.0, kNan, kInfinity}) {
    add("model.noise_variance", [bad](EngineConfig& c) { c.model.noise_variance = bad; });
    add("injected_noise", [bad](EngineConfig& c) { c.sampler.injected_noise = bad; });
    add("draws_per_observation", [bad](EngineConfig& c) { c.draws_per_observation = bad; });
    add("noise_scale", [bad](EngineConfig& c) {
      c.sampler.name = "sgfs-f";
      c.sampler.noise_scale = bad;
    });
    add("step_size_max", [bad](EngineConfig& c) {
      c.sampler.name = "sgfs-d";
      c.sampler.step_size_max = bad;
    });
  }
  struct Field {
    const char* name;
    const char* sampler;
    double SamplerConfig::*member;
  };
  for (const Field& field :
       {Field{"step_size", "sgld", &SamplerConfig::step_size},
        Field{"step_decay", "sgld", &SamplerConfig::step_decay},
        Field{"step_offset", "sgld", &SamplerConfig::step_offset},
        Field{"temperature", "sghmc", &SamplerConfig::temperature},
        Field{"initial_temperature", "santa", &SamplerConfig::initial_temperature},
        Field{"annealing_steps", "santa", &SamplerConfig::annealing_steps},
        Field{"annealing_exponent", "sgld", &SamplerConfig::annealing_exponent},
        Field{"friction", "sghmc", &SamplerConfig::friction},
        Field{"smoothing", "psgld", &SamplerConfig::smoothing},
        Field{"preconditioner_floor", "psgld", &SamplerConfig::preconditioner_floor},
        Field{"exploration", "csgld", &SamplerConfig::exploration}}) {
    for (const double bad : {-1.0, kNan, kInfinity}) {
      add(field.name, [field, bad](EngineConfig& c) {
        c.sampler.name = field.sampler;
        c.sampler.*field.member = bad;
      });
    }
  }
  add("prior_groups", [](EngineConfig& c) { c.model.prior_groups = kGroups; });  // not learned
  const auto add_learned = [&add](const char* field, auto commit) {
    add(field, [commit](EngineConfig& c) {
      c.model.learn_prior_precision = true;
      c.model.prior_precision = 1;
      commit(c.model);
    });
  };
  for (const char* network : {"mlp-linear", "drbm"}) {
    add_learned("learn_prior_precision", [network](ModelConfig& m) { m.name = network; });
  }
  for (const double bad : {0.0, 2.0, kNan, kInfinity}) {
    add_learned("prior_precision_min", [bad](ModelConfig& m) { m.prior_precision_min = bad; });
  }
  for (const double bad : {0.0, 0.5, kNan, kInfinity}) {
    add_learned("prior_precision_max", [bad](ModelConfig& m) { m.prior_precision_max = bad; });
  }
  add_learned("prior_groups", [](ModelConfig& m) { m.prior_groups = std::span(kGroups).first(2); });
  add_learned("prior_groups", [](ModelConfig& m) { m.prior_groups = kGroupsWithABadOne; });
  add("cycle_steps", [](EngineConfig& c) {
    c.sampler.name = "csgld";
    c.sampler.cycle_steps = 1;
  });
  add("sampler.name", [](EngineConfig& c) { c.sampler.name = "adam"; });
  add("sampler.minibatch_size", [](EngineConfig& c) { c.sampler.minibatch_size = 100'001; });
  add("sampler.chains", [](EngineConfig& c) {
    c.horizon = Horizon::kAll;
    c.sampler.chains = c.retained_draws - 1;
  });
  add("sampler.chains", [](EngineConfig& c) { c.sampler.chains = 1025; });
  add("sampler.shared_minibatches", [](EngineConfig& c) { c.sampler.shared_minibatches = true; });
  add("sampler.decay_constant", [](EngineConfig& c) {
    c.sampler.decay = DecaySchedule::kConstant;
    c.sampler.decay_constant = 1.5;
  });
  add("window_size", [](EngineConfig& c) { c.window_size = 3; });
  add("window_size", [](EngineConfig& c) { c.window_size = 1'000'000'001; });
  add("window_slack", [](EngineConfig& c) { c.window_slack = 2 * 32'768 - 1; });
  add("window_slack", [](EngineConfig& c) { c.window_slack = 1'000'000'001; });
  add("max_frame_rows", [](EngineConfig& c) { c.max_frame_rows = 0; });
  add("feature_shift", [](EngineConfig& c) { c.standardize = Standardize::kGiven; });
  add("standardize_target", [](EngineConfig& c) { c.standardize_target = Standardize::kScaled; });
  add("standardize_target", [](EngineConfig& c) {
    c.model.name = "logistic";
    c.standardize_target = Standardize::kColdStart;
  });
  add("target_shift", [](EngineConfig& c) {
    c.standardize_target = Standardize::kGiven;
    c.target_shift = kNan;
  });
  add("target_shift", [](EngineConfig& c) {
    c.model.intercept = false;
    c.standardize_target = Standardize::kGiven;
    c.target_shift = 1;
  });
  add("target_scale", [](EngineConfig& c) {
    c.model.name = "poisson";
    c.standardize_target = Standardize::kGiven;
    c.target_scale = 2;
  });
  add("feature_scale", [](EngineConfig& c) {
    c.standardize = Standardize::kGiven;
    c.feature_shift = kOnes;
    c.feature_scale = kTwoAndABadOne;
  });
  add("feature_shift", [](EngineConfig& c) {
    c.standardize = Standardize::kGiven;
    c.feature_shift = kShiftWithNan;
    c.feature_scale = kOnes;
  });
  add("feature_shift", [](EngineConfig& c) {
    c.model.max_nonzeros = 2;
    c.standardize = Standardize::kGiven;
    c.feature_shift = kOnes;
    c.feature_scale = kOnes;
  });
  add("retained_draws", [](EngineConfig& c) { c.retained_draws = 1; });
  add("learner_threads", [](EngineConfig& c) { c.learner_threads = 0; });
  add("learner_threads", [](EngineConfig& c) { c.learner_threads = kMaxLearnerThreads + 1; });
  add("learner_threads", [](EngineConfig& c) {
    c.learner_threads = 4;
    c.sampler.chains = 3;
  });
  add("learner_threads", [](EngineConfig& c) {
    c.learner_threads = 2;
    c.horizon = Horizon::kAll;
  });
  add("retained_draws", [](EngineConfig& c) { c.retained_draws = 65'537; });
  add("max_readers", [](EngineConfig& c) { c.max_readers = 0; });
  add("max_readers", [](EngineConfig& c) { c.max_readers = 1025; });
  add("max_watchers", [](EngineConfig& c) { c.max_watchers = 1025; });
  add("labels.pending", [](EngineConfig& c) { c.labels.pending = (1U << 30) + 1; });
  add("labels.pending", [](EngineConfig& c) {
    c.labels.pending = 1;
    c.follows = true;
  });
  for (const double bad : {0.0, -1.0, kNan, kInfinity, 31'536'001.0}) {
    add("labels.timeout_seconds", [bad](EngineConfig& c) { c.labels.timeout_seconds = bad; });
  }
  for (const double bad : {0.5, 2.0, -1.0, kInfinity}) {
    add("labels.timeout_outcome", [bad](EngineConfig& c) {
      c.model.name = "logistic";
      c.labels.timeout_outcome = bad;
    });
  }
  add("labels.timeout_outcome", [](EngineConfig& c) {
    c.model.name = "log-normal";
    c.labels.timeout_outcome = 0;
  });
  add("labels.timeout_outcome", [](EngineConfig& c) {
    c.model.name = "poisson";
    c.labels.timeout_outcome = 0x1p54;
  });
  add("labels.timeout_outcome", [](EngineConfig& c) {
    c.model.name = "softmax";
    c.model.classes = 3;
    c.labels.timeout_outcome = 3;
  });
  add("max_query_rows", [](EngineConfig& c) { c.max_query_rows = 0; });
  add("max_query_rows", [](EngineConfig& c) { c.max_query_rows = 65'537; });
  return v;
}

TEST(Config, EveryViolationNamesItsField) {
  for (const Violation& violation : violations()) {
    EngineConfig config = good();
    violation.commit(config);
    const auto result = check(config);
    ASSERT_FALSE(result.ok()) << violation.field;
    EXPECT_EQ(result.status(), Status::kInvalidConfig) << violation.field;
    EXPECT_NE(std::string(result.error().sentence).find(violation.field), std::string::npos)
        << violation.field << " is not named in: " << result.error().sentence;
    EXPECT_FALSE(Engine::footprint(config).ok()) << violation.field;
  }
}

TEST(Config, FeaturesAloneAreEnough) {
  EXPECT_TRUE(check(good()).ok());
  EXPECT_FALSE(check(EngineConfig{}).ok());
}

TEST(Config, SharedMinibatchesAreRefusedOnlyForSeveralChains) {
  EngineConfig config = good();
  config.sampler.shared_minibatches = true;
  const auto refused = check(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(std::string(refused.error().sentence).find("collapse"), std::string::npos);
  config.sampler.chains = 1;
  EXPECT_TRUE(check(config).ok());
}

TEST(Config, DefaultsFillInTheMinibatch) {
  EngineConfig config = good();
  EXPECT_EQ(with_defaults(config).sampler.minibatch_size, 256u);
  EXPECT_TRUE(with_defaults(config).sampler.minibatch_grows);
  config.model.features = 199;
  EXPECT_EQ(with_defaults(config).sampler.minibatch_size, 400u);
  config.window_size = 50;
  EXPECT_EQ(with_defaults(config).sampler.minibatch_size, 50u);
  config.sampler.minibatch_size = 17;
  EXPECT_EQ(with_defaults(config).sampler.minibatch_size, 17u);
  EXPECT_FALSE(with_defaults(config).sampler.minibatch_grows);
  config.sampler.minibatch_size = 0;
  config.horizon = Horizon::kAll;
  config.window_size = 100'000;
  config.model.features = 10;
  EXPECT_EQ(with_defaults(config).sampler.minibatch_size, 64u);
}

TEST(Config, MinibatchesGrowWithTheRowsUnlessTheyWereSet) {
  EngineConfig config = good();
  config.window_size = 100'000;
  const EngineConfig chosen = with_defaults(config);
  EXPECT_EQ(minibatch_rows(chosen, 3), 1u);
  EXPECT_EQ(minibatch_rows(chosen, 200), 50u);
  EXPECT_EQ(minibatch_rows(chosen, 10'000), 64u);
  EXPECT_EQ(minibatch_rows(chosen, 40'000), 200u);
  EXPECT_EQ(minibatch_rows(chosen, 100'000), 256u);
  config.sampler.minibatch_size = 500;
  EXPECT_EQ(minibatch_rows(with_defaults(config), 1000), 250u);
  EXPECT_EQ(minibatch_rows(with_defaults(config), 10'000), 500u);
}

TEST(Config, InterceptPrecisionIsNotJudgedWithoutAnIntercept) {
  EngineConfig config = good();
  config.model.intercept = false;
  config.model.intercept_precision = 0;
  EXPECT_TRUE(check(config).ok());
}

TEST(Config, LimitsThemselvesAreAllowed) {
  EngineConfig config = good();
  config.window_size = 4;
  config.sampler.minibatch_size = 4;
  config.max_frame_rows = 1;
  config.window_slack = 2;
  config.retained_draws = 2;
  config.max_readers = 1;
  config.max_query_rows = 1;
  config.sampler.chains = 1;
  EXPECT_TRUE(check(config).ok());
}

}  // namespace
}  // namespace windhover::config_test
