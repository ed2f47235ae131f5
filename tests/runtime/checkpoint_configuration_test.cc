// A checkpoint of another configuration is refused by the name of the field.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "windhover/runtime/checkpoint/config_fields.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"

namespace windhover::test::checkpoint_configuration_test {
namespace {

TEST(CheckpointConfiguration, EveryFieldThatDiffersIsNamed) {
  const EngineConfig base = [] {
    EngineConfig c = saved_config(3, 60);
    c.model.learn_prior_precision = true;
    return c;
  }();
  Lived lived(base);
  const Bytes bytes = bytes_of(*lived.engine);
  const double two[] = {1, 2, 3};
  const double other_two[] = {1, 2, 4};
  const std::uint32_t groups[] = {0, 1, 0};
  const MissingFeature lacking[] = {{}, {.fill = 0.5}, {}};
  using Change = std::function<void(EngineConfig&)>;
  const std::pair<const char*, Change> changes[] = {
      {"model.name", [](auto& c) { c.model.name = "student-t"; }},
      {"model.features", [](auto& c) { c.model.features = 4; }},
      {"model.max_nonzeros", [](auto& c) { c.model.max_nonzeros = 3; }},
      {"model.intercept", [](auto& c) { c.model.intercept = false; }},
      {"model.prior_precision", [](auto& c) { c.model.prior_precision = 2; }},
      {"model.intercept_precision", [](auto& c) { c.model.intercept_precision = 2; }},
      {"model.learn_prior_precision", [](auto& c) { c.model.learn_prior_precision = false; }},
      {"model.prior_precision_min", [](auto& c) { c.model.prior_precision_min = 1e-3; }},
      {"model.prior_precision_max", [](auto& c) { c.model.prior_precision_max = 1e3; }},
      {"model.prior_groups", [&](auto& c) { c.model.prior_groups = groups; }},
      {"model.noise_variance", [](auto& c) { c.model.noise_variance = 0; }},
      {"model.degrees_of_freedom", [](auto& c) { c.model.degrees_of_freedom = 5; }},
      {"schema", [](auto& c) { c.schema_fingerprint = 5; }},
      {"sampler.name", [](auto& c) { c.sampler.name = "sgld"; }},
      {"sampler.minibatch_size", [](auto& c) { c.sampler.minibatch_size = 9; }},
      {"sampler.chains", [](auto& c) { c.sampler.chains = 2; }},
      {"sampler.noise_estimator",
       [](auto& c) { c.sampler.noise_estimator = NoiseEstimator::kRecursion; }},
      {"sampler.injected_noise", [](auto& c) { c.sampler.injected_noise = 4; }},
      {"window_size", [](auto& c) { c.window_size = 61; }},
      {"draws_per_observation", [](auto& c) { c.draws_per_observation = 5; }},
      {"standardize", [](auto& c) { c.standardize = Standardize::kColdStart; }},
      {"missing_features", [&](auto& c) { c.missing_features = lacking; }},
      {"standardize_target", [](auto& c) { c.standardize_target = Standardize::kColdStart; }},
      {"retained_draws", [](auto& c) { c.retained_draws = 3; }},
      {"seed", [](auto& c) { c.seed = 8; }},
      {"horizon",
       [](auto& c) {
         c.horizon = Horizon::kAll;
         c.model.learn_prior_precision = false;  // as any horizon but a window asks for
         c.sampler.chains = c.retained_draws;
         c.sampler.minibatch_size = 9;
       }},
  };
  for (const auto& [name, change] : changes) {
    EngineConfig config = base;
    change(config);
    ASSERT_TRUE(check(config).ok()) << name << ": " << check(config).error().sentence;
    Refusal refusal(config);
    const Error error = refusal.refuse(bytes);
    EXPECT_EQ(error.status, Status::kInvalidConfig) << name;
    EXPECT_NE(std::string(error.sentence).find(std::string("another ") + name + ";"),
              std::string::npos)
        << name << ": " << error.sentence;
    EXPECT_EQ(refusal.trace(), "") << name;
  }
  EngineConfig given = base;
  given.standardize = Standardize::kGiven;
  given.feature_shift = given.feature_scale = two;
  Lived with_scale(given);
  const Bytes scaled = bytes_of(*with_scale.engine);
  ASSERT_EQ(restore_error(*with_scale.engine, scaled).status, Status::kOk);
  given.feature_scale = other_two;
  const Error error = Refusal(given).refuse(scaled);
  EXPECT_NE(std::string(error.sentence).find("another feature_scale;"), std::string::npos);
}

// What is refused stays usable where the configuration's own spans live in the block.
TEST(CheckpointConfiguration, GivenUnitsAndGroupsOutliveARefusal) {
  const std::uint32_t groups[] = {0, 1, 0};
  const double shift[] = {1, 2, 3};
  EngineConfig config = saved_config(3, 60);
  config.model.learn_prior_precision = true;
  config.model.prior_groups = groups;
  config.standardize = Standardize::kGiven;
  config.feature_shift = config.feature_scale = shift;
  Refusal refusal(config);
  refusal.refuse({});
  EXPECT_EQ(refusal.trace(), "");
  EXPECT_EQ(refusal.engine()->config().feature_shift[2], 3);
  EXPECT_EQ(refusal.engine()->config().model.prior_groups[1], 1u);
  Lived lived(config);
  ASSERT_EQ(restore_error(*refusal.engine(), bytes_of(*lived.engine)).status, Status::kOk);
}

TEST(CheckpointConfiguration, FieldsHaveNamesThatFitAndDiffer) {
  std::vector<std::string> names;
  for (const checkpoint::ConfigField& field : checkpoint::config_fields()) {
    names.emplace_back(field.name());
    EXPECT_LE(names.back().size(), 31u) << names.back();
    EXPECT_EQ(std::string(field.sentence).find("another " + names.back() + "; "),
              std::string("the checkpoint has ").size());
  }
  EXPECT_LE(names.size(), 96u);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

#if defined(__x86_64__) && defined(__GLIBCXX__)
// A field more, and the list of fields that a checkpoint depends on has to be looked at:
// runtime/checkpoint/config_fields.cc. Left out on purpose are checkpoints, window_slack,
// max_frame_rows, max_followers, follows, score_predictions, labels, learner_threads, max_readers,
// max_watchers and max_query_rows.
TEST(CheckpointConfiguration, NoFieldIsForgotten) {
  EXPECT_EQ(sizeof(ModelConfig), 120u);
  EXPECT_EQ(sizeof(SamplerConfig), 192u);
  EXPECT_EQ(sizeof(EngineConfig), 504u);
}
#endif

}  // namespace
}  // namespace windhover::test::checkpoint_configuration_test
