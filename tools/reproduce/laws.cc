#include "windhover/tools/reproduce/laws.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <numbers>
#include <numeric>
#include <unsupported/Eigen/KroneckerProduct>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

// Anderson's acceleration, which on a linear map is GMRES: it needs as many rounds as L has
// distinct eigenvalues. Sigma is taken in coordinates in which a is I, so that narrow directions
// count as much as wide ones.
std::optional<MatrixXd> fixed_covariance(
    Index dimension, const std::function<std::optional<MatrixXd>(const MatrixXd&)>& map) {
  constexpr int kRounds = 100;
  const auto a = map(MatrixXd::Zero(dimension, dimension));
  if (!a) return std::nullopt;
  const Eigen::LLT<MatrixXd> factor(*a);
  if (factor.info() != Eigen::Success) return std::nullopt;
  const MatrixXd root = factor.matrixL();
  const auto whitened = [&](const MatrixXd& sigma) {
    const MatrixXd half = factor.matrixL().solve(sigma);
    return MatrixXd(factor.matrixL().solve(half.transpose()));
  };
  const auto plain = [&](const MatrixXd& x) { return MatrixXd(root * x * root.transpose()); };

  const Index size = dimension * dimension;
  MatrixXd steps(size, kRounds);    // of x, from round to round
  MatrixXd changes(size, kRounds);  // of the residual
  MatrixXd x = MatrixXd::Identity(dimension, dimension);
  MatrixXd best = x;
  double least = std::numeric_limits<double>::infinity();
  VectorXd residual;
  for (int round = 0; round < kRounds; ++round) {
    const auto next = map(plain(x));
    if (!next) return std::nullopt;
    const MatrixXd off = whitened(*next) - x;
    // The residual is measured in x and not in Sigma: near divergence Sigma is large and a residual
    // in it misleads.
    const double error = off.norm() / std::sqrt(static_cast<double>(dimension));
    if (!std::isfinite(error)) return std::nullopt;
    // Below this rounding decides: stop when the residual no longer falls.
    if (least < 1e-9 && error > 0.5 * least) break;
    if (error < least) best = x, least = error;
    if (error < 1e-15) break;
    const VectorXd now = off.reshaped();
    if (round > 0) changes.col(round - 1) = now - residual;
    residual = now;
    VectorXd step = residual;
    if (round > 0) {
      const auto seen = changes.leftCols(round);
      const VectorXd weights = seen.colPivHouseholderQr().solve(residual);
      step -= (steps.leftCols(round) + seen) * weights;
    }
    steps.col(round) = step;
    x += step.reshaped(dimension, dimension);
  }
  if (!(least < 1e-9)) return std::nullopt;
  // Where the sum diverges the equation still has a solution, but none that is at least a.
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(best, Eigen::EigenvaluesOnly);
  if (!(eigen.eigenvalues()[0] > 1 - 1e-6)) return std::nullopt;
  const MatrixXd sigma = plain(best);
  return MatrixXd(0.5 * (sigma + sigma.transpose()));
}

SpreadNoise::SpreadNoise(const Problem& problem) : x_(design_matrix(problem)), weight_(x_.rows()) {
  if (problem.model.name == "logistic") {
    const Eigen::ArrayXd p = 1.0 / (1.0 + (-(x_ * problem.posterior.mode).array()).exp());
    weight_ = (p * (1.0 - p)).matrix();
  } else {
    weight_.setConstant(1.0 / problem.model.noise_variance);
  }
  second_moment_ = x_.transpose() * weight_.asDiagonal() * x_ / static_cast<double>(x_.rows());
}

MatrixXd SpreadNoise::operator()(const MatrixXd& sigma) const {
  const VectorXd leverage = (x_ * sigma).cwiseProduct(x_).rowwise().sum();
  const VectorXd factor = leverage.cwiseProduct(weight_.cwiseAbs2());
  return x_.transpose() * factor.asDiagonal() * x_ / static_cast<double>(x_.rows()) -
         second_moment_ * sigma * second_moment_;
}

Told told_at_mode(const Problem& problem) {
  return {problem.posterior.curvature, problem.posterior.noise, problem.n(),
          static_cast<double>(problem.minibatch_size)};
}

Law law_of(const SamplerConfig& config, const Told& told) {
  const OwnedSampler sampler(config, told);
  if (!sampler.entry().has_law) {
    throw UserError(fmt::format("the sampler {} has no law", config.name));
  }
  const Index d = told.curvature.rows();
  Law law{MatrixXd(d, d), MatrixXd(d, d)};
  sampler->law(law.preconditioner.data(), law.injected.data());
  return law;
}

std::optional<MatrixXd> exact_covariance(const Law& law, const Told& at_mode,
                                         const SpreadNoise& spread) {
  return fixed_covariance(at_mode.curvature.rows(), [&](const MatrixXd& sigma) {
    const MatrixXd noise = (at_mode.noise + spread(sigma)) / at_mode.minibatch_size;
    return stationary_covariance(law.preconditioner, at_mode.curvature, noise, law.injected);
  });
}

MatrixXd continuous_covariance(const Law& law, const Told& at_mode) {
  const Index d = at_mode.curvature.rows();
  const MatrixXd drift = law.preconditioner * at_mode.curvature;
  const MatrixXd q = law.preconditioner * (at_mode.noise / at_mode.minibatch_size + law.injected) *
                     law.preconditioner.transpose();
  const MatrixXd unit = MatrixXd::Identity(d, d);
  const MatrixXd system = MatrixXd(Eigen::kroneckerProduct(drift, unit)) +
                          MatrixXd(Eigen::kroneckerProduct(unit, drift));
  const VectorXd solution =
      system.partialPivLu().solve(Eigen::Map<const VectorXd>(q.data(), d * d));
  const MatrixXd sigma = Eigen::Map<const MatrixXd>(solution.data(), d, d);
  return 0.5 * (sigma + sigma.transpose());
}

VectorXd autocorrelation_times(const Law& law, const MatrixXd& curvature, const MatrixXd& sigma) {
  const MatrixXd drift = law.preconditioner * curvature;
  const VectorXd sum = drift.partialPivLu().solve(sigma).diagonal();
  return (2.0 * sum.cwiseQuotient(sigma.diagonal())).array() - 1.0;
}

double spectral_radius(const MatrixXd& matrix) {
  return matrix.eigenvalues().cwiseAbs().maxCoeff();
}

double relaxation(const Law& law, const MatrixXd& curvature) {
  const MatrixXd transition =
      MatrixXd::Identity(curvature.rows(), curvature.cols()) - law.preconditioner * curvature;
  const double radius = spectral_radius(transition);
  return radius < 1 ? -1.0 / std::log(radius) : std::numeric_limits<double>::infinity();
}

double relative_covariance_error(const MatrixXd& other, const MatrixXd& exact) {
  const Eigen::LLT<MatrixXd> factor(exact);
  const MatrixXd half = factor.matrixL().solve(other - exact);
  const MatrixXd whole = factor.matrixL().solve(half.transpose());
  return whole.norm() / std::sqrt(static_cast<double>(exact.rows()));
}

KnownChain::KnownChain(const Problem& problem, const SamplerConfig& config, std::uint64_t seed)
    : KnownChain(problem, config, seed, problem.posterior.mode) {}

KnownChain::KnownChain(const Problem& problem, const SamplerConfig& config, std::uint64_t seed,
                       const VectorXd& start)
    : told_(told_at_mode(problem)),
      model_(problem.model, problem.data),
      sampler_(config, told_),
      memory_(sampler_, config, model_.dimension()),
      slots_(problem.minibatch_size),
      seed_(seed) {
  std::ranges::copy(start, memory_.theta.begin());
  Rng rng(seed_, {.purpose = Purpose::kInitialState});
  sampler_->start(memory_.chain, rng);
}

bool KnownChain::step() {
  model_.draw(seed_, {.step = step_, .purpose = Purpose::kMinibatch}, slots_);
  Rng rng(seed_, {.step = step_, .purpose = Purpose::kInjectedNoise});
  ++step_;
  return ok(sampler_->step(memory_.chain, model_.gradient(), rng));
}

VectorXd KnownChain::gradient(const VectorXd& theta) {
  VectorXd g(theta.size());
  model_.gradient()(theta.data(), g.data());
  return g;
}

void KnownChain::set_anchor(const VectorXd& anchor) {
  std::vector<std::uint32_t> all(model_.row_count());
  std::iota(all.begin(), all.end(), 0U);
  model_.gradient().set_minibatch(model_.batch(all));
  const VectorXd g = gradient(anchor);
  Estimates estimates = told_.view();
  estimates.anchor = anchor.data();
  estimates.anchor_gradient = g.data();
  sampler_.tell(estimates);
}

ordered_json simulate(const Problem& problem, const SamplerConfig& sampler, std::uint64_t steps,
                      std::uint64_t seed) {
  EngineConfig config;
  config.model = problem.model;
  config.sampler = sampler;
  config.seed = seed;
  EngineRun run(config, problem.data);
  run.settle();
  run.run(steps / 10);
  Moments moments(problem.posterior.mode);
  run.run(steps, [&](std::uint16_t, const double* theta) { moments.add(theta); });
  return to_json(moments);
}

Estimate short_run_kl(const Context& context, const Problem& problem, const SamplerConfig& sampler,
                      const VectorXd& start, std::uint64_t steps, std::size_t chains) {
  const ReferencePosterior& posterior = problem.posterior;
  std::vector<double> kl(chains);
  context.parallel(chains, [&](std::size_t c) {
    KnownChain chain(problem, sampler, context.seed() * 1000 + c, start);
    Moments moments(posterior.mode);
    for (std::uint64_t t = 0; t < steps; ++t) {
      if (!chain.step()) throw RunError("a short run has diverged");
      moments.add(chain.theta().data());
    }
    kl[c] = gaussian_kl(moments.mean(), moments.covariance(), posterior.mode, posterior.covariance);
  });
  return mean_of(kl);
}

Series ellipse(const std::string& label, Style style, int colour, const Vector2d& mean,
               const Matrix2d& covariance, double deviations, int points) {
  Series series{.label = label, .x = {}, .y = {}, .style = style, .colour = colour};
  const Matrix2d root = covariance.llt().matrixL();
  for (int i = 0; i <= points; ++i) {
    const double angle = 2 * std::numbers::pi * i / points;
    const Vector2d at = mean + deviations * root * Vector2d(std::cos(angle), std::sin(angle));
    series.add(at[0], at[1]);
  }
  return series;
}

}  // namespace windhover::reproduce
