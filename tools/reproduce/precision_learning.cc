#include "windhover/tools/reproduce/precision_learning.h"

#include "windhover/runtime/learning/learner.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/optimizers.h"

namespace windhover::reproduce {
namespace {

constexpr double kLeastNoise = 0.01;  // share of the mean C_jj: rare categories are seldom seen
constexpr double kAveraged = 10;      // times n / 2S steps, over which SGD's spread averages out

// The average of -log p(y | x, theta). The predictor of class 0 is 0.
double validation_loss(const PrecisionTask& task, const double* theta) {
  const std::size_t columns = task.model.columns();
  double sum = 0;
  std::vector<double> eta(task.model.classes);
  for (std::size_t i = 0; i < task.validation.rows(); ++i) {
    const double* x = task.validation.row(i);
    double largest = 0;
    for (std::uint32_t c = 1; c < task.model.classes; ++c) {
      const double* w = theta + (c - 1) * columns;
      eta[c] = w[columns - 1];
      for (std::size_t j = 0; j + 1 < columns; ++j) eta[c] += w[j] * x[j];
      largest = std::max(largest, eta[c]);
    }
    double total = 0;
    for (const double e : eta) total += std::exp(e - largest);
    sum += largest + std::log(total) - eta[static_cast<std::size_t>(task.validation.targets[i])];
  }
  return sum / static_cast<double>(task.validation.rows());
}

void set_prior(OwnedModel& model, double precision) { std::ranges::fill(model.prior(), precision); }

// Moves lambda towards D / E|theta|^2 in its logarithm, at a rate that falls as 1 / t.
class PrecisionStep {
 public:
  PrecisionStep(double start, double steps) : log_precision_(std::log(start)), steps_(steps) {}
  double precision() const { return std::exp(log_precision_); }
  void move(std::uint64_t t, double squares, double dimension) {
    const double rate = 0.02 / (1.0 + 20.0 * static_cast<double>(t) / steps_);
    const double gradient = precision() * squares / dimension - 1.0;
    log_precision_ -= rate * std::clamp(gradient, -1.0, 1.0);
  }

 private:
  double log_precision_;
  double steps_;
};

}  // namespace

double loss_at(const PrecisionTask& task, double precision, double passes, std::uint64_t seed) {
  OwnedModel model(task.model, task.training);
  set_prior(model, precision);
  std::vector<double> theta(model.dimension(), 0.0);
  std::vector<double> gradient(model.dimension());
  std::vector<std::uint32_t> slots(kPrecisionMinibatch);
  Adam adam(theta.size());
  const std::uint64_t steps = task.steps(passes);
  for (std::uint64_t t = 0; t < steps; ++t) {
    model.draw(seed, {.step = t, .purpose = Purpose::kMinibatch}, slots);
    model.gradient()(theta.data(), gradient.data());
    const double left = 1.0 - static_cast<double>(t) / static_cast<double>(steps);
    adam.step(0.01 * left, gradient, theta);
  }
  return validation_loss(task, theta.data());
}

Learned learn_by_sgd(const PrecisionTask& task, double start, double passes, std::uint64_t seed,
                     SgdKind kind) {
  const std::uint32_t minibatch =
      kind == SgdKind::kDiagonal ? kPrecisionMinibatch / 10 : kPrecisionMinibatch;
  OwnedModel model(task.model, task.training);
  const std::uint32_t d = model.dimension();
  const auto n = static_cast<double>(model.row_count());
  VectorXd theta = VectorXd::Zero(d), gradient(d), sum(d), squares(d), average = VectorXd::Zero(d);
  std::vector<std::uint32_t> slots(minibatch);
  const std::uint64_t steps = task.steps(passes, minibatch);
  PrecisionStep step(start, static_cast<double>(steps));
  VectorXd noise = VectorXd::Zero(d), centre = VectorXd::Zero(d), precision(d);
  const double averaged_steps = kAveraged * n / (2.0 * minibatch);
  const double forgetting = kind == SgdKind::kDiagonal ? 0.005 : 0.05;
  double weight = 0;
  double log_precision = 0;
  for (std::uint64_t t = 0; t < steps; ++t) {
    set_prior(model, step.precision());
    model.draw(seed, {.step = t, .purpose = Purpose::kMinibatch}, slots);
    if (t % 10 == 0) {
      sum.setZero();
      squares.setZero();
      NoiseVarianceSums sums{.gradient = sum.data(), .squares = squares.data()};
      model.model().add_noise_variances(model.batch(slots), theta.data(), sums);
      weight += (1 - weight) * forgetting;
      noise += (squares / sums.rows - (sum / sums.rows).cwiseAbs2() - noise) * forgetting / weight;
    }
    model.gradient()(theta.data(), gradient.data());
    precision = (n * noise.array() + step.precision()).matrix();
    if (kind == SgdKind::kDiagonal) {
      const double least = kLeastNoise * n * noise.mean();
      theta.array() -= 2.0 * minibatch * gradient.array() / precision.array().max(least);
    } else {
      theta -= std::min(2.0 * d * minibatch / (n * noise.sum()), 0.5) * gradient;
    }
    centre += (theta - centre) / std::min(static_cast<double>(t) + 1, averaged_steps);
    const double square = kind == SgdKind::kOneRate
                              ? theta.squaredNorm()
                              : centre.squaredNorm() + precision.cwiseInverse().sum();
    step.move(t, square, d);
    if (4 * t >= 3 * steps) {
      average += theta;
      log_precision += std::log(step.precision());
    }
  }
  const std::uint64_t first_averaged = (3 * steps + 3) / 4;
  const auto averaged = static_cast<double>(steps - first_averaged);
  average /= averaged;
  return {std::exp(log_precision / averaged), validation_loss(task, average.data())};
}

Learned by_bbvi(const PrecisionTask& task, double start, double passes, std::uint64_t seed) {
  OwnedModel model(task.model, task.training);
  const std::uint64_t steps = task.steps(passes);
  PrecisionStep step(start, static_cast<double>(steps));
  set_prior(model, start);
  BbviOptions options{
      .minibatch_size = kPrecisionMinibatch, .steps = steps, .rate = 0.01, .seed = seed};
  options.after_step = [&](std::uint64_t t, const VectorXd& mean, const VectorXd& variances) {
    step.move(t, mean.squaredNorm() + variances.sum(), static_cast<double>(mean.size()));
    set_prior(model, step.precision());
  };
  const VariationalFit fit = bbvi(model, VectorXd::Zero(model.dimension()), options);
  return {step.precision(), validation_loss(task, fit.mean.data())};
}

Learned by_engine(const PrecisionTask& task, double start, double passes, std::uint64_t seed) {
  EngineConfig config;
  config.model = task.model;
  config.model.prior_precision = start;
  config.model.learn_prior_precision = true;
  config.sampler.minibatch_size = kPrecisionMinibatch;
  config.sampler.chains = 1;
  config.seed = seed;
  EngineRun run(config, task.training);
  run.settle();
  run.run(task.steps(passes));
  const std::vector<ParameterSummary> summaries = run.posterior();
  std::vector<double> mean(summaries.size());
  std::ranges::transform(summaries, mean.begin(), &ParameterSummary::mean);
  return {summaries[0].prior_precision, validation_loss(task, mean.data())};
}

}  // namespace windhover::reproduce
