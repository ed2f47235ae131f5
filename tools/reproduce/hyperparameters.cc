// The prior precision of a softmax regression, learned online: Mandt, Hoffman and Blei 2017,
// section 7.3, Figure 6.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "windhover/runtime/learner.h"
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/adam.h"
#include "windhover/tools/reproduce/bbvi.h"
#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/covertype.h"
#include "windhover/tools/reproduce/experiments.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/mnist.h"
#include "windhover/tools/reproduce/moments_json.h"
#include "windhover/tools/reproduce/replications.h"
#include "windhover/tools/reproduce/report.h"

namespace windhover::reproduce {
namespace {

using Eigen::VectorXd;
using nlohmann::ordered_json;

constexpr std::array kStarts = {1.0, 10'000.0};  // of lambda
constexpr std::uint32_t kMinibatch = 500;
constexpr double kLeastNoise = 0.01;  // of the mean C_jj: rare categories have hardly been seen
constexpr double kAveraged = 10;      // times n / 2S steps: the spread of SGD is out of the mean

struct Task {
  std::string name;
  ModelConfig model;
  Dataset training;
  Dataset validation;

  std::uint64_t steps(double passes, std::uint32_t minibatch = kMinibatch) const {
    return static_cast<std::uint64_t>(passes * static_cast<double>(training.rows()) / minibatch);
  }
};

ModelConfig softmax(const Dataset& data, std::uint32_t classes) {
  return {.name = "softmax",
          .features = static_cast<std::uint32_t>(data.columns()),
          .prior_precision = 1,
          .intercept_precision = 1,
          .classes = classes};
}

Task mnist(const Context& context) {
  Task task{"MNIST", {}, load_mnist(context, true), load_mnist(context, false)};
  task.model = softmax(task.training, 10);
  return task;
}

// The full file, or where that is not there the sample of it.
constexpr std::array<std::string_view, 1> kCovertype = {"covtype.data"};
constexpr std::array<std::string_view, 1> kCovertypeSample = {"covtype-sample.csv"};

Task covertype(const Context& context) {
  const bool full = context.missing(kCovertype).empty();
  const Dataset all = load_covertype(context.file(full ? kCovertype[0] : kCovertypeSample[0]));
  // 500,000 of 581,012 rows train in the paper; of a sample the same share.
  const std::vector<std::size_t> order = permutation(all.rows(), context.seed());
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(order.size() * 500'000 / 581'012);
  return {"Covertype", softmax(all, 7), rows_of(all, {order.begin(), cut}),
          rows_of(all, {cut, order.end()})};
}

// Average -log p(y | x, theta): class 0 has the linear predictor 0.
double validation_loss(const Task& task, const double* theta) {
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

// The mode at a given lambda by Adam with a rate that falls to 0, and its validation loss.
double loss_at(const Task& task, double precision, double passes, std::uint64_t seed) {
  OwnedModel model(task.model, task.training);
  set_prior(model, precision);
  std::vector<double> theta(model.dimension(), 0.0);
  std::vector<double> gradient(model.dimension());
  std::vector<std::uint32_t> slots(kMinibatch);
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

struct Learned {
  double precision = 0;
  double loss = 0;
};
ordered_json to_json(const Learned& learned) { return {learned.precision, learned.loss}; }

// Where lambda = D / E|theta|^2 stands, approached in its logarithm with a rate that falls as 1/t.
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

// How theta moves, and what stands for E|theta|^2.
enum class SgdKind : std::uint8_t {
  kOneRate,        // that of eq. 15, 2 D S / (n Tr C), and the iterates' own square
  kWithVariances,  // the same, and the square of a posterior around the iterates' average
  kDiagonal,       // the same square, and a rate each, 2 S / max(n C_jj + lambda, 0.01 n Tr C / D)
};

// Eq. 22: theta by SGD at a constant rate, lambda by a falling one. C is that of the rows of the
// minibatch, averaged along the way. The square of a posterior counts variances of
// 1 / (n C_jj + lambda): SGD itself never moves where there is no gradient noise, and there the
// posterior is as wide as the prior. With a rate each, parameters that go along with no other
// forget in n / 2 S steps; pixels beside each other are so alike that this is stable with small
// minibatches only.
Learned learn_by_sgd(const Task& task, double start, double passes, std::uint64_t seed,
                     SgdKind kind) {
  const std::uint32_t minibatch = kind == SgdKind::kDiagonal ? kMinibatch / 10 : kMinibatch;
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

template <SgdKind kKind>
Learned by_sgd(const Task& task, double start, double passes, std::uint64_t seed) {
  return learn_by_sgd(task, start, passes, seed, kKind);
}

// The variational lower bound, mean-field, in theta and lambda.
Learned by_bbvi(const Task& task, double start, double passes, std::uint64_t seed) {
  OwnedModel model(task.model, task.training);
  const std::uint64_t steps = task.steps(passes);
  PrecisionStep step(start, static_cast<double>(steps));
  set_prior(model, start);
  BbviOptions options{.minibatch_size = kMinibatch, .steps = steps, .rate = 0.01, .seed = seed};
  options.after_step = [&](std::uint64_t t, const VectorXd& mean, const VectorXd& variances) {
    step.move(t, mean.squaredNorm() + variances.sum(), static_cast<double>(mean.size()));
    set_prior(model, step.precision());
  };
  const VariationalFit fit = bbvi(model, VectorXd::Zero(model.dimension()), options);
  return {step.precision(), validation_loss(task, fit.mean.data())};
}

// The engine's own: learn_prior_precision.
Learned by_engine(const Task& task, double start, double passes, std::uint64_t seed) {
  EngineConfig config;
  config.model = task.model;
  config.model.prior_precision = start;
  config.model.learn_prior_precision = true;
  config.sampler.minibatch_size = kMinibatch;
  config.sampler.chains = 1;
  config.seed = seed;
  EngineRun run(config, task.training);
  run.settle();
  run.run(task.steps(passes));
  std::vector<ParameterSummary> summaries(run.dimension());
  Provenance provenance;
  if (!ok(run.reader().posterior(summaries, provenance))) return {};
  std::vector<double> mean(summaries.size());
  std::ranges::transform(summaries, mean.begin(), &ParameterSummary::mean);
  return {summaries[0].prior_precision, validation_loss(task, mean.data())};
}

using Way = Learned (*)(const Task&, double, double, std::uint64_t);
struct Method {
  const char* label;
  Way way;
  double quick_passes;
  double passes;
};

void run_task(const Context& context, const Task& task, const std::vector<Method>& methods,
              double loss_bar, double begin, double end, Report& report) {
  const std::vector<double> grid =
      context.quick()
          ? std::vector{0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 3e4}
          : std::vector{0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4};
  std::vector<double> losses(grid.size());
  std::vector<double> loss_errors(grid.size());
  std::vector<std::array<Learned, 2>> learned(methods.size());
  const std::size_t jobs = grid.size() + 2 * methods.size();
  context.parallel(jobs, {task.name, begin, end}, [&](std::size_t j) {
    if (j < grid.size()) {
      const double passes = context.choose(15.0, 40.0);
      const std::string what = fmt::format("{} passes, 2 seeds", passes);
      const ordered_json part =
          context.part(fmt::format("{}-losses-{:g}", task.name, grid[j]), what, [&] {
            ordered_json of_seeds;
            for (std::uint64_t seed : {0, 1}) {
              of_seeds.push_back(loss_at(task, grid[j], passes, context.seed() + seed));
            }
            return of_seeds;
          });
      const Estimate loss = mean_of({number_from(part[0]), number_from(part[1])});
      losses[j] = loss.value;
      loss_errors[j] = loss.mcse;
      return;
    }
    const std::size_t m = (j - grid.size()) / 2;
    const std::size_t start = (j - grid.size()) % 2;
    const double passes = context.choose(methods[m].quick_passes, methods[m].passes);
    const std::string what = fmt::format("from {}, {} passes", kStarts[start], passes);
    const ordered_json part =
        context.part(fmt::format("{}-{}-from-{}", task.name, methods[m].label, start), what, [&] {
          return to_json(methods[m].way(task, kStarts[start], passes, context.seed() + start));
        });
    learned[m][start] = {number_from(part[0]), number_from(part[1])};
  });
  const auto least = static_cast<std::size_t>(std::ranges::min_element(losses) - losses.begin());
  const double best = losses[least];
  const std::string group = fmt::format("{} ({} training, {} validation rows)", task.name,
                                        task.training.rows(), task.validation.rows());
  report.add(Figure{.group = group,
                    .name = "best validation loss on the curve",
                    .ours = best,
                    .mcse = loss_errors[least]});
  report.add(Figure{.group = group, .name = "λ of it", .ours = grid[least]});
  Panel panel{
      .title = task.name,
      .x_label = "prior precision λ",
      .y_label = "validation loss (nats a row)",
      .series = {{.label = "mode at λ", .x = grid, .y = losses, .error = loss_errors, .colour = 0}},
      .log_x = true,
      .legend = "top left"};
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const auto& [low, high] = learned[m];
    const std::string label = methods[m].label;
    for (std::size_t s = 0; s < 2; ++s) {
      report.add(Figure{.group = group,
                        .name = fmt::format("{}, λ from λ = {:g}", label, kStarts[s]),
                        .ours = learned[m][s].precision,
                        .mcse = std::abs(low.precision - high.precision) / std::sqrt(2.0)});
    }
    report.add(Figure{
        .group = group,
        .name = fmt::format("{}, larger λ over the smaller", label),
        .ours = std::max(low.precision, high.precision) / std::min(low.precision, high.precision),
        .bar = at_most(1.2)});
    report.add(Figure{
        .group = group,
        .name = fmt::format("{}, loss over the curve's best", label),
        .ours = std::max(low.loss, high.loss) / best,
        .mcse =
            std::hypot(std::abs(low.loss - high.loss) / std::sqrt(2.0), loss_errors[least]) / best,
        .bar = at_most(loss_bar)});
    panel.series.push_back({.label = label,
                            .x = {low.precision, high.precision},
                            .y = {low.loss, high.loss},
                            .style = Style::kPoints,
                            .colour = static_cast<int>(m) + 1});
  }
  report.add(panel);
}

}  // namespace

void run_hyperparameters(const Context& context, Report& report) {
  const Method sgd{"SGD", by_sgd<SgdKind::kOneRate>, 60, 200};
  const Method with_variances{"SGD with variances", by_sgd<SgdKind::kWithVariances>, 60, 200};
  const Method diagonal{"SGD-d with variances", by_sgd<SgdKind::kDiagonal>, 60, 200};
  const Method variational{"BBVI", by_bbvi, 60, 100};
  const Method engine{"engine", by_engine, 20, 20};
  std::vector<Method> methods = {sgd, with_variances, diagonal, variational};
  const std::string no_mnist = context.missing(kMnistFiles);
  const std::string no_covertype = context.missing(kCovertypeSample);
  const bool covertype_there = no_covertype.empty() || context.missing(kCovertype).empty();
  if (!no_mnist.empty() && !covertype_there) {
    throw UserError(fmt::format("neither data set is there: {}; {}", no_mnist, no_covertype));
  }
  if (no_mnist.empty()) {
    run_task(context, mnist(context), methods, 1.01, 0, 0.4, report);
  } else {
    report.note(fmt::format("MNIST is left out: {}.", no_mnist));
  }
  if (covertype_there) {
    const Task task = covertype(context);
    if (context.quick()) {
      const auto d = (task.model.classes - 1) * task.model.columns();
      report.note(
          fmt::format("The engine's own learning of λ on Covertype is not run with --quick: it "
                      "would take longer "
                      "than all the rest, with passes over {} rows for {} x {} matrices.",
                      task.training.rows(), d, d));
    } else {
      methods.push_back(engine);
    }
    run_task(context, task, methods, 1.01, 0.4, 1, report);
    report.note(
        fmt::format("Covertype: {} of the 581,012 rows are there, split in the paper's proportion.",
                    task.training.rows() + task.validation.rows()));
  } else {
    report.note(fmt::format("Covertype is left out: {}.", no_covertype));
  }
  report.note(
      "The softmax of the library has one block of coefficients fewer than classes (class 0 "
      "is the base), so λ is not on the scale of eq. 35, which has one a class.");
  report.note(
      "The engine keeps D × D matrices, too large for the 7,065 parameters of MNIST: there "
      "θ moves by SGD outside of it, on the library's softmax model, at the rate of eq. 15 or, "
      "\"SGD-d\", at 2 S / max(n C_jj + λ, n Tr C / 100 D) with minibatches of 50 instead of 500.");
  report.note(
      "λ moves in its logarithm. Eq. 22 as printed steps along the gradient of a sum over "
      "rows at a rate derived for their mean.");
  report.note(
      "Eq. 22 takes |θ|² of SGD's iterates for E|θ|². Where pixels are hardly ever inked there is "
      "no "
      "gradient noise: SGD stays at 0 there while the posterior is as wide as the prior, which "
      "makes "
      "the square too small and λ too large. \"With variances\" adds the posterior variances that "
      "the noise itself predicts, as far as a diagonal goes. At one rate for all directions SGD "
      "also "
      "takes long in those of little curvature, which a rate for each parameter (\"SGD-d\") is "
      "against. What each is worth says the loss over the curve's best.");
  report.note(
      "The two starts draw minibatches of their own: ± is the spread between them, that of the "
      "curve the spread of two runs.");
}

}  // namespace windhover::reproduce
