#include "windhover/tools/reproduce/kl_cases.h"

namespace windhover::reproduce {

KlCase::KlCase(const Context& context, std::size_t set_in, Scaling scaling_in)
    : set(set_in),
      scaling(scaling_in),
      problem(load_problem(context, kSets[set_in], scaling_in)),
      at_mode(told_at_mode(problem)),
      spread(problem) {}

SamplerConfig KlCase::config(std::size_t method) const {
  SamplerConfig config{.name = kKlMethods[method].sampler,
                       .minibatch_size = problem.minibatch_size,
                       .chains = kKlChains,
                       .noise_scale = 0};
  const Rate rate = kKlMethods[method].rate;
  // Their step epsilon multiplies half the gradient of the log posterior.
  if (rate == Rate::kPapersStep) config.step_size = kPapersSteps[set] * at_mode.n / 2;
  if (rate == Rate::kEquation15) {
    const auto d = static_cast<double>(problem.dimension());
    config.step_size_max = 2 * d * at_mode.minibatch_size / (at_mode.n * at_mode.noise.trace());
  }
  return config;
}

double KlCase::kl(const VectorXd& mean, const MatrixXd& covariance) const {
  return gaussian_kl(mean, covariance, problem.posterior.mode, problem.posterior.covariance);
}

ExactKl exact_kl(const KlCase& c, std::size_t method) {
  Told told = c.at_mode;
  // What the chains of the engine measure: C averaged over the posterior.
  if (method == kDefault) told.noise += c.spread(c.problem.posterior.covariance);
  const Law law = law_of(c.config(method), told);
  ExactKl exact;
  exact.relaxation = relaxation(law, c.at_mode.curvature);
  const VectorXd& mode = c.problem.posterior.mode;
  exact.continuous = c.kl(mode, continuous_covariance(law, c.at_mode));
  const auto sigma = exact_covariance(law, c.at_mode, c.spread);
  if (sigma) exact.kl = c.kl(mode, *sigma);
  return exact;
}

}  // namespace windhover::reproduce
