#include "windhover/tests/hashes/scenarios.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/registry.h"

namespace windhover::test {
namespace {

constexpr std::uint32_t kFeatures = 4;

// Everything that a default might one day be changed of is said here.
EngineConfig base(std::string_view model, std::uint32_t features = kFeatures) {
  EngineConfig c = small_config("linear", features, 500);
  c.model.name = model;
  c.model.noise_variance = 0;
  c.model.prior_precision = 1;
  c.model.intercept_precision = 0.1;
  c.model.classes = 3;
  c.model.hidden = 3;
  c.sampler.minibatch_size = 32;
  c.sampler.chains = 4;
  c.retained_draws = 32;
  return c;
}

void add_models(std::vector<Scenario>& all) {
  for (const ModelEntry& entry : model_registry()) {
    const std::string name(entry.name);
    Scenario s{"model/" + name, base(entry.name)};
    s.rows = entry.network ? 1200 : 2400;
    all.push_back(s);
    s.name += "/sparse";
    s.config.model.max_nonzeros = kFeatures;
    all.push_back(s);
  }
}

void add_samplers(std::vector<Scenario>& all) {
  for (const SamplerEntry& entry : sampler_registry()) {
    Scenario s{"sampler/" + std::string(entry.name), base("linear")};
    s.config.model.noise_variance = 1;
    s.config.sampler.name = entry.name;
    all.push_back(s);
  }
}

void add_streams(std::vector<Scenario>& all) {
  constexpr std::pair<const char*, Stream> kStreams[] = {
      {"bursts", Stream::kBursts},     {"idle", Stream::kIdle},
      {"starved", Stream::kStarved},   {"sorted", Stream::kSorted},
      {"jump", Stream::kJump},         {"outliers", Stream::kOutliers},
      {"huge", Stream::kHuge},         {"constant", Stream::kConstant},
      {"repeated", Stream::kRepeated}, {"category", Stream::kCategory},
  };
  for (const char* model : {"linear", "logistic", "poisson", "student-t"}) {
    for (const auto& [name, stream] : kStreams) {
      all.push_back({std::string("stream/") + model + "/" + name, base(model), stream});
    }
  }
  all.push_back({"stream/linear/far-target", base("linear"), Stream::kFarTarget});
  for (const double precision : {1e-3, 1e-6}) {
    Scenario s{std::string("stream/softmax/magnitudes-") + (precision < 1e-4 ? "weaker" : "weak"),
               base("softmax", 12), Stream::kMagnitudes};
    s.config.model.prior_precision = precision;
    s.config.model.classes = 4;
    s.config.draws_per_observation = precision < 1e-4 ? 0 : 4;
    s.config.window_size = 1000;
    s.rows = 1600;
    all.push_back(s);
  }
}

void add_horizons(std::vector<Scenario>& all) {
  constexpr std::pair<const char*, SinglePassNoise> kNoises[] = {
      {"weights", SinglePassNoise::kWeights},
      {"noise-covariance", SinglePassNoise::kNoiseCovariance},
      {"curvature", SinglePassNoise::kCurvature},
  };
  for (const char* model : {"linear", "logistic"}) {
    for (const auto& [name, noise] : kNoises) {
      for (const Horizon horizon : {Horizon::kFading, Horizon::kAll}) {
        Scenario s{std::string("horizon/") + to_string(horizon) + "/" + model + "/" + name,
                   base(model)};
        s.config.horizon = horizon;
        s.config.sampler.chains = 0;
        s.config.single_pass_noise = noise;
        s.stream = model[1] == 'i' ? Stream::kSteady : Stream::kCategory;
        all.push_back(s);
      }
    }
  }
  Scenario wide{"horizon/fading/posterior-spread", base("linear")};
  wide.config.horizon = Horizon::kFading;
  wide.config.sampler.chains = 0;
  wide.config.forgetting_spread = ForgettingSpread::kPosterior;
  wide.stream = Stream::kJump;
  all.push_back(wide);
  for (const Stream stream : {Stream::kHuge, Stream::kOutliers, Stream::kStarved}) {
    for (const char* model : {"linear", "logistic"}) {
      Scenario hit{std::string("horizon/fading/disturbed/") + model +
                       std::to_string(static_cast<int>(stream)),
                   base(model), stream};
      hit.config.horizon = Horizon::kFading;
      hit.config.sampler.chains = 0;
      all.push_back(hit);
    }
  }
  for (const Horizon horizon : {Horizon::kFading, Horizon::kAll}) {
    for (const char* model : {"linear", "student-t"}) {
      Scenario stuck{std::string("horizon/") + to_string(horizon) + "/constant/" + model,
                     base(model), Stream::kConstant};
      stuck.config.horizon = horizon;
      stuck.config.sampler.chains = 0;
      all.push_back(stuck);
    }
  }
  for (const char* model : {"linear", "logistic", "student-t", "log-normal", "negative-binomial",
                            "binomial", "softmax"}) {
    Scenario chosen{std::string("horizon/adaptive/") + model, base(model), Stream::kJump};
    chosen.config.horizon = Horizon::kAdaptive;
    chosen.config.window_size = 1000;
    chosen.rows = 3000;
    all.push_back(chosen);
  }
  for (const ModelEntry& entry : model_registry()) {
    if (entry.network) continue;
    Scenario aged{"horizon/forgetting/" + std::string(entry.name), base(entry.name), Stream::kJump};
    aged.config.horizon = Horizon::kForgetting;
    all.push_back(aged);
  }
  for (const auto& [name, stream] : {std::pair{"bursts", Stream::kBursts},
                                     {"idle", Stream::kIdle},
                                     {"starved", Stream::kStarved},
                                     {"huge", Stream::kHuge},
                                     {"outliers", Stream::kOutliers},
                                     {"category", Stream::kCategory}}) {
    Scenario aged{std::string("horizon/forgetting/") + name, base("logistic"), stream};
    aged.config.horizon = Horizon::kForgetting;
    all.push_back(aged);
  }
  Scenario aged{"horizon/forgetting/posterior-spread", base("linear")};
  aged.config.horizon = Horizon::kForgetting;
  aged.config.forgetting_spread = ForgettingSpread::kPosterior;
  all.push_back(aged);
  aged.name = "horizon/forgetting/within-minibatch";
  aged.config.sampler.noise_estimator = NoiseEstimator::kWithinMinibatch;
  all.push_back(aged);
  aged = {"horizon/forgetting/sparse-weight", base("negative-binomial")};
  aged.config.horizon = Horizon::kForgetting;
  aged.config.model.max_nonzeros = kFeatures;
  aged.config.model.weight = true;
  aged.config.model.offset = true;
  all.push_back(aged);
  aged = {"horizon/forgetting/mlp-logistic", base("mlp-logistic")};
  aged.config.horizon = Horizon::kForgetting;
  aged.rows = 1200;
  all.push_back(aged);
  Scenario sparse{"horizon/all/sparse", base("poisson"), Stream::kOutliers};
  sparse.config.horizon = Horizon::kAll;
  sparse.config.sampler.chains = 0;
  sparse.config.model.max_nonzeros = kFeatures;
  all.push_back(sparse);
}

void add_settings(std::vector<Scenario>& all) {
  const auto add = [&](const std::string& name, std::string_view model, auto&& change,
                       Stream stream = Stream::kSteady) {
    Scenario s{"setting/" + name, base(model), stream};
    change(s.config);
    all.push_back(s);
  };
  using Config = EngineConfig;
  add("replay-0", "linear", [](Config& c) { c.draws_per_observation = 0; });
  add("replay-1", "logistic", [](Config& c) { c.draws_per_observation = 1; });
  add("minibatch-grows", "logistic", [](Config& c) { c.sampler.minibatch_size = 0; });
  add("within-minibatch", "linear",
      [](Config& c) { c.sampler.noise_estimator = NoiseEstimator::kWithinMinibatch; });
  add("recursion", "logistic",
      [](Config& c) { c.sampler.noise_estimator = NoiseEstimator::kRecursion; });
  add("diagonal-noise", "linear", [](Config& c) {
    c.sampler.name = "sgd-d";
    c.sampler.noise_structure = NoiseStructure::kDiagonal;
  });
  add("harmonic", "logistic", [](Config& c) { c.sampler.decay = DecaySchedule::kHarmonic; });
  add("cold-posterior", "linear", [](Config& c) {
    c.sampler.name = "sgld";
    c.sampler.temperature = 0.3;
  });
  add("standardize", "linear", [](Config& c) { c.standardize = Standardize::kColdStart; });
  add(
      "standardize-logistic", "logistic",
      [](Config& c) { c.standardize = Standardize::kColdStart; }, Stream::kBursts);
  add("learned-prior", "linear", [](Config& c) { c.model.learn_prior_precision = true; });
  add(
      "learned-prior-bursts", "softmax", [](Config& c) { c.model.learn_prior_precision = true; },
      Stream::kBursts);
  static constexpr std::uint32_t kGroups[] = {0, 0, 1, 1};
  add("learned-prior-groups", "logistic", [](Config& c) {
    c.model.learn_prior_precision = true;
    c.model.prior_groups = kGroups;
  });
  add("two-threads", "linear", [](Config& c) { c.learner_threads = 2; });
  add("standardize-sparse", "logistic", [](Config& c) {
    c.standardize = Standardize::kColdStart;
    c.model.max_nonzeros = kFeatures;
  });
  add("no-intercept", "logistic", [](Config& c) { c.model.intercept = false; });
  add("offset", "negative-binomial", [](Config& c) { c.model.offset = true; });
  add("offset-sparse-all", "student-t", [](Config& c) {
    c.model.offset = true;
    c.model.max_nonzeros = kFeatures;
    c.horizon = Horizon::kAll;
    c.sampler.chains = 0;
  });
  for (const auto& [name, stream] : {std::pair{"", Stream::kSteady},
                                     {"-bursts", Stream::kBursts},
                                     {"-idle", Stream::kIdle},
                                     {"-starved", Stream::kStarved},
                                     {"-outliers", Stream::kOutliers}}) {
    add(
        std::string("diagonal") + name, "logistic",
        [](Config& c) {
          c.structure = Structure::kDiagonal;
          c.model.max_nonzeros = kFeatures;
        },
        stream);
  }
  for (const char* model : {"linear", "student-t", "log-normal"}) {
    for (const auto& [name, stream] : {std::pair{"", Stream::kSteady},
                                       {"-starved", Stream::kStarved},
                                       {"-sorted", Stream::kSorted}}) {
      add(
          std::string("diagonal-") + model + name, model,
          [](Config& c) {
            c.structure = Structure::kDiagonal;
            c.model.max_nonzeros = kFeatures;
            c.model.learn_prior_precision = true;
            c.standardize_target = Standardize::kColdStart;
          },
          stream);
    }
  }
  add("diagonal-linear-weight", "linear", [](Config& c) {
    c.structure = Structure::kDiagonal;
    c.model.max_nonzeros = kFeatures;
    c.model.weight = c.model.offset = true;
    c.model.noise_variance = 2;
  });
  add("diagonal-adaptive", "logistic", [](Config& c) {
    c.structure = Structure::kDiagonal;
    c.horizon = Horizon::kAdaptive;
    c.model.max_nonzeros = kFeatures;
    c.model.learn_prior_precision = true;
  });
  add("diagonal-learned-prior", "logistic", [](Config& c) {
    c.structure = Structure::kDiagonal;
    c.model.max_nonzeros = kFeatures;
    c.model.learn_prior_precision = true;
    c.model.offset = true;
    c.model.intercept = false;
  });
  add("diagonal-weight", "logistic", [](Config& c) {
    c.structure = Structure::kDiagonal;
    c.model.max_nonzeros = kFeatures;
    c.model.learn_prior_precision = true;
    c.model.weight = true;
  });
  add("weight", "negative-binomial", [](Config& c) {
    c.model.weight = true;
    c.model.offset = true;
  });
  add("weight-softmax", "softmax", [](Config& c) { c.model.weight = true; });
  add("weight-adaptive", "linear", [](Config& c) {
    c.model.weight = true;
    c.horizon = Horizon::kAdaptive;
  });
  add("weight-sparse-all", "student-t", [](Config& c) {
    c.model.weight = true;
    c.model.max_nonzeros = kFeatures;
    c.horizon = Horizon::kAll;
    c.sampler.chains = 0;
  });
  add("trials-weight", "binomial", [](Config& c) { c.model.weight = true; });
  add("trials-sparse-all", "binomial", [](Config& c) {
    c.model.max_nonzeros = kFeatures;
    c.horizon = Horizon::kAll;
    c.sampler.chains = 0;
  });
  const auto surprising = [](SurprisingRows what, Horizon horizon = Horizon::kWindow) {
    return [=](Config& c) {
      c.surprising_rows = what;
      c.horizon = horizon;
    };
  };
  add("surprising-count", "linear", surprising(SurprisingRows::kCount), Stream::kOutliers);
  add("surprising-down-weight", "linear", surprising(SurprisingRows::kDownWeight),
      Stream::kOutliers);
  add("surprising-set-aside-far", "log-normal", surprising(SurprisingRows::kSetAside),
      Stream::kHuge);
  add("surprising-adaptive", "linear", surprising(SurprisingRows::kSetAside, Horizon::kAdaptive),
      Stream::kJump);
  add(
      "surprising-sparse", "poisson",
      [](Config& c) {
        c.surprising_rows = SurprisingRows::kSetAside;
        c.model.max_nonzeros = kFeatures;
      },
      Stream::kOutliers);
  add(
      "surprising-weight", "linear",
      [](Config& c) {
        c.surprising_rows = SurprisingRows::kDownWeight;
        c.model.weight = true;
        c.model.offset = true;
      },
      Stream::kOutliers);
  add(
      "surprising-trials", "binomial",
      [](Config& c) {
        c.surprising_rows = SurprisingRows::kDownWeight;
        c.learner_threads = 2;
      },
      Stream::kOutliers);
  add("step-too-long", "linear", [](Config& c) {
    c.sampler.name = "sgld";
    c.sampler.step_size = 1;
  });
  add(
      "chains-lost", "linear",
      [](Config& c) {
        c.sampler.name = "sghmc";
        c.sampler.step_size = 0.05;
      },
      Stream::kJump);
}

// Refreshes in pieces, between which chains move; dimensions on both sides of the dense check.
void add_sizes(std::vector<Scenario>& all) {
  for (const std::uint32_t features : {31U, 40U, 180U}) {
    for (const char* model : {"linear", "logistic"}) {
      Scenario s{"size/" + std::to_string(features) + "/" + model, base(model, features)};
      s.config.sampler.minibatch_size = 0;
      if (features < 100) s.stream = Stream::kBursts;
      s.rows = 1600;
      all.push_back(s);
    }
  }
}

}  // namespace

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  add_models(all);
  add_samplers(all);
  add_streams(all);
  add_horizons(all);
  add_settings(all);
  add_sizes(all);
  return all;
}

}  // namespace windhover::test
