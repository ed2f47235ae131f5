#include "windhover/tools/daemon/sampler_options.h"

namespace windhover {

namespace {

constexpr const char* kHorizonHelp = "which rows the posterior stands on";

template <class T>
Choices<T> horizons() {
  return {{"window", Horizon::kWindow},
          {"fading", Horizon::kFading},
          {"all", Horizon::kAll},
          {"adaptive", Horizon::kAdaptive},
          {"forgetting", Horizon::kForgetting}};
}

}  // namespace

std::vector<DaemonOption> sampler_options(SamplerConfig& s) {
  return {
      number("sampler.minibatch_size", "rows a step and chain; 0: chosen", s.minibatch_size),
      number("sampler.chains", "with draws of their own; 0: chosen", s.chains),
      boolean("sampler.shared_minibatches", "refused with several chains", s.shared_minibatches),
      choice("sampler.noise_estimator", "of the gradient-noise covariance", s.noise_estimator,
             Choices<NoiseEstimator>{{"window-sweep", NoiseEstimator::kWindowSweep},
                                     {"within-minibatch", NoiseEstimator::kWithinMinibatch},
                                     {"recursion", NoiseEstimator::kRecursion}}),
      choice("sampler.noise_structure", "how much of it is kept", s.noise_structure,
             Choices<NoiseStructure>{{"full", NoiseStructure::kFull},
                                     {"diagonal", NoiseStructure::kDiagonal}}),
      choice("sampler.decay", "weight of the newest estimate", s.decay,
             Choices<DecaySchedule>{{"harmonic", DecaySchedule::kHarmonic},
                                    {"polynomial", DecaySchedule::kPolynomial},
                                    {"constant", DecaySchedule::kConstant}}),
      number("sampler.decay_constant", "c of the schedule", s.decay_constant),
      number("sampler.injected_noise", "calibrated: tau", s.injected_noise),
      number("sampler.noise_scale", "SGFS: alpha", s.noise_scale),
      number("sampler.step_size_max", "SGFS: h_max; 0: none", s.step_size_max),
      number("sampler.step_size", "the Langevin family, sandwich, completed noise; 0: computed",
             s.step_size),
      number("sampler.block_size", "sgfs-block: parameters a block", s.block_size),
      number("sampler.rank", "sgfs-lr: factors beside the diagonal", s.rank),
      number("sampler.step_decay", "sgld: gamma of h (1 + t / b)^-gamma", s.step_decay),
      number("sampler.step_offset", "sgld: b of that", s.step_offset),
      number("sampler.temperature", "Langevin family: of the whole posterior", s.temperature),
      number("sampler.initial_temperature", "sgld, santa: annealing begins here; 0: none",
             s.initial_temperature),
      number("sampler.annealing_steps", "moves in which the temperature falls", s.annealing_steps),
      number("sampler.annealing_exponent", "and how fast", s.annealing_exponent),
      number("sampler.friction", "sghmc, thermostats: lost a move; 0: chosen", s.friction),
      number("sampler.smoothing", "psgld, santa: weight of the past", s.smoothing),
      number("sampler.preconditioner_floor", "psgld, santa: lambda", s.preconditioner_floor),
      number("sampler.cycle_steps", "csgld: moves a cycle", s.cycle_steps),
      number("sampler.exploration", "csgld: share of a cycle without noise", s.exploration),
      number("sampler.exploration_steps", "santa: moves until it refines; 0: never",
             s.exploration_steps),
      number("sampler.momentum", "momentum: beta", s.momentum),
  };
}

DaemonOption horizon_option(Horizon& horizon) {
  return choice("engine.horizon", kHorizonHelp, horizon, horizons<Horizon>());
}

DaemonOption horizon_option(std::optional<Horizon>& horizon) {
  Choices<std::optional<Horizon>> choices = horizons<std::optional<Horizon>>();
  choices.insert(choices.begin(), {"chosen", std::nullopt});
  return choice("engine.horizon", std::string(kHorizonHelp) + "; chosen: adaptive where it can be",
                horizon, std::move(choices));
}

std::vector<DaemonOption> horizon_options(EngineConfig& c) {
  return {
      number("engine.window_size", "N: that of the last N rows, or of rows worth N", c.window_size),
      choice("engine.surprising_rows",
             "with a window: what becomes of rows far from what was predicted", c.surprising_rows,
             Choices<SurprisingRows>{{"keep", SurprisingRows::kKeep},
                                     {"count", SurprisingRows::kCount},
                                     {"down-weight", SurprisingRows::kDownWeight},
                                     {"set-aside", SurprisingRows::kSetAside}}),
      choice("engine.single_pass_noise", "without a window: where the spread comes from",
             c.single_pass_noise,
             Choices<SinglePassNoise>{{"weights", SinglePassNoise::kWeights},
                                      {"noise-covariance", SinglePassNoise::kNoiseCovariance},
                                      {"curvature", SinglePassNoise::kCurvature}}),
      choice("engine.forgetting_spread", "forgetting, fading: twice the variance under posterior",
             c.forgetting_spread,
             Choices<ForgettingSpread>{{"sampling", ForgettingSpread::kSampling},
                                       {"posterior", ForgettingSpread::kPosterior}}),
      choice("engine.dependent_spread",
             "where rows depend on one another: predictions as wide as sd or as sd_robust says",
             c.dependent_spread,
             Choices<DependentSpread>{{"posterior", DependentSpread::kPosterior},
                                      {"robust", DependentSpread::kRobust}}),
      choice("engine.structure",
             "of the curvature: full, or a number a parameter for many sparse columns", c.structure,
             Choices<Structure>{{"chosen", Structure::kChosen},
                                {"full", Structure::kFull},
                                {"diagonal", Structure::kDiagonal}}),
  };
}

}  // namespace windhover
