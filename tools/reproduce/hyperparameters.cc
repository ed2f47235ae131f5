// The prior precision of a softmax regression, learned online: Mandt, Hoffman and Blei 2017,
// section 7.3, Figure 6.
#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/data_sets.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/precision_learning.h"

namespace windhover::reproduce {
namespace {

constexpr std::array kFirstPrecisions = {1.0, 10'000.0};  // lambda at the start

ModelConfig softmax(const Dataset& data, std::uint32_t classes) {
  return {.name = "softmax",
          .features = static_cast<std::uint32_t>(data.columns()),
          .prior_precision = 1,
          .intercept_precision = 1,
          .classes = classes};
}

PrecisionTask mnist(const Context& context) {
  PrecisionTask task{"MNIST", {}, load_mnist(context, true), load_mnist(context, false)};
  task.model = softmax(task.training, 10);
  return task;
}

// The full file, or a sample of it where that is missing.
constexpr std::array<std::string_view, 1> kCovertype = {"covtype.data"};
constexpr std::array<std::string_view, 1> kCovertypeSample = {"covtype-sample.csv"};

PrecisionTask covertype(const Context& context) {
  const bool full = context.missing(kCovertype).empty();
  const Dataset all = load_covertype(context.file(full ? kCovertype[0] : kCovertypeSample[0]));
  // The paper trains on 500,000 of 581,012 rows. A sample is split in the same ratio.
  const std::vector<std::size_t> order = permutation(all.rows(), context.seed());
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(order.size() * 500'000 / 581'012);
  return {"Covertype", softmax(all, 7), rows_of(all, {order.begin(), cut}),
          rows_of(all, {cut, order.end()})};
}

ordered_json json_of(const Learned& learned) { return {learned.precision, learned.loss}; }

template <SgdKind kKind>
Learned by_sgd(const PrecisionTask& task, double start, double passes, std::uint64_t seed) {
  return learn_by_sgd(task, start, passes, seed, kKind);
}

using Way = Learned (*)(const PrecisionTask&, double, double, std::uint64_t);
struct PrecisionMethod {
  const char* label;
  Way way;
  double quick_passes;
  double passes;
};

void run_task(const Context& context, const PrecisionTask& task,
              const std::vector<PrecisionMethod>& methods, double loss_bar, double begin,
              double end, Report& report) {
  const std::vector<double> grid =
      context.quick()
          ? std::vector{0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 3e4}
          : std::vector{0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4};
  std::vector<PartJob> jobs;
  const double grid_passes = context.choose(15.0, 40.0);
  for (const double precision : grid) {
    jobs.push_back({fmt::format("{}-losses-{:g}", task.name, precision),
                    fmt::format("{} passes, 2 seeds", grid_passes), [&, precision] {
                      ordered_json of_seeds;
                      for (std::uint64_t seed : {0, 1}) {
                        of_seeds.push_back(
                            loss_at(task, precision, grid_passes, context.seed() + seed));
                      }
                      return of_seeds;
                    }});
  }
  for (const PrecisionMethod& method : methods) {
    const double passes = context.choose(method.quick_passes, method.passes);
    for (std::size_t start = 0; start < kFirstPrecisions.size(); ++start) {
      jobs.push_back({fmt::format("{}-{}-from-{}", task.name, method.label, start),
                      fmt::format("from {}, {} passes", kFirstPrecisions[start], passes),
                      [&, passes, start] {
                        return json_of(method.way(task, kFirstPrecisions[start], passes,
                                                  context.seed() + start));
                      }});
    }
  }
  const auto parts = context.run_parts(jobs, {task.name, begin, end});
  std::vector<double> losses;
  std::vector<double> loss_errors;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const Estimate loss = mean_of(numbers_from(parts[i]));
    losses.push_back(loss.value);
    loss_errors.push_back(loss.mcse);
  }
  std::vector<std::array<Learned, 2>> learned(methods.size());
  for (std::size_t i = grid.size(); i < parts.size(); ++i) {
    const std::size_t j = i - grid.size();
    learned[j / 2][j % 2] = {number_from(parts[i][0]), number_from(parts[i][1])};
  }
  const auto least = static_cast<std::size_t>(std::ranges::min_element(losses) - losses.begin());
  const double best = losses[least];
  Table table(report, fmt::format("{} ({} training, {} validation rows)", task.name,
                                  task.training.rows(), task.validation.rows()));
  table.add("best validation loss on the curve", {best, loss_errors[least]});
  table.add("λ of it", grid[least]);
  double lowest = best;
  for (const auto& [low, high] : learned) lowest = std::min({lowest, low.loss, high.loss});
  constexpr double kFloor = 0.05;  // %: a place for the smallest value on a logarithmic axis
  const auto above = [&](double loss) { return 100 * (loss / lowest - 1) + kFloor; };
  const auto share = [&](double loss) { return 100 * loss / lowest; };
  const std::vector<double> ends = {0.5 * grid.front(), 2 * grid.back()};
  Series curve = Series::curve("mode at λ", 0);
  for (std::size_t i = 0; i < grid.size(); ++i) {
    curve.add(grid[i], {above(losses[i]), share(loss_errors[i])});
  }
  const double bar = above(loss_bar * best);
  Panel panel =
      Panel{fmt::format("{}, {:.4g} nats at best", task.name, lowest), "prior precision λ",
            fmt::format("validation loss above the best (%, + {})", kFloor)}
          .log("xy")
          .legend_at("bottom right")
          .x_in(ends[0], ends[1]);
  panel.add(curve).add(
      Series::dashes(fmt::format("bar: {:.0f} % above the curve's best", 100 * (loss_bar - 1)), 7,
                     ends, {bar, bar}));
  std::string text;
  if (least == 0 || least + 1 == grid.size()) {
    text += fmt::format(
        " The best λ of the curve, {:g}, is the edge of its grid: its minimum may lie beyond.",
        grid[least]);
  }
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const auto& [low, high] = learned[m];
    const std::string label = methods[m].label;
    for (std::size_t s = 0; s < 2; ++s) {
      table.add(
          fmt::format("{}, λ from λ = {:g}", label, kFirstPrecisions[s]),
          {learned[m][s].precision, std::abs(low.precision - high.precision) / std::sqrt(2.0)});
    }
    table
        .add(fmt::format("{}, larger λ over the smaller", label),
             std::max(low.precision, high.precision) / std::min(low.precision, high.precision))
        .held_to(at_most(1.2));
    table
        .add(fmt::format("{}, loss over the curve's best", label),
             {std::max(low.loss, high.loss) / best,
              std::hypot(std::abs(low.loss - high.loss) / std::sqrt(2.0), loss_errors[least]) /
                  best})
        .held_to(at_most(loss_bar));
    panel.series.push_back({.label = label,
                            .x = {(low.precision + high.precision) / 2},
                            .y = {above((low.loss + high.loss) / 2)},
                            .error = {share(std::abs(low.loss - high.loss) / 2)},
                            .style = Style::kPoints,
                            .colour = static_cast<int>(m) + 1,
                            .x_error = {std::abs(low.precision - high.precision) / 2}});
    const double worse = std::max(low.loss, high.loss) / best;
    if (worse < 1 || worse > loss_bar) {
      text += fmt::format(" {} has a loss {:.2g} % {} the curve's best, at λ = {:.3g} and {:.3g}.",
                          label, 100 * std::abs(worse - 1), worse < 1 ? "below" : "above",
                          low.precision, high.precision);
    }
  }
  if (!text.empty()) report.note("{}:{}", task.name, text);
  report.add(panel);
}

}  // namespace

void run_hyperparameters(const Context& context, Report& report) {
  report.plot().panel_width = 760;
  const PrecisionMethod sgd{"SGD", by_sgd<SgdKind::kOneRate>, 60, 200};
  const PrecisionMethod with_variances{"SGD with variances", by_sgd<SgdKind::kWithVariances>, 60,
                                       200};
  const PrecisionMethod diagonal{"SGD-d with variances", by_sgd<SgdKind::kDiagonal>, 60, 200};
  const PrecisionMethod variational{"BBVI", by_bbvi, 60, 100};
  const PrecisionMethod engine{"engine", by_engine, 20, 20};
  std::vector<PrecisionMethod> methods = {sgd, with_variances, diagonal, variational};
  const std::string no_mnist = context.missing(kMnistFiles);
  const std::string no_covertype = context.missing(kCovertypeSample);
  const bool covertype_there = no_covertype.empty() || context.missing(kCovertype).empty();
  if (!no_mnist.empty() && !covertype_there) {
    throw UserError(fmt::format("neither data set is there: {}; {}", no_mnist, no_covertype));
  }
  if (no_mnist.empty()) {
    run_task(context, mnist(context), methods, 1.01, 0, 0.4, report);
  } else {
    report.note("MNIST is left out: {}.", no_mnist);
  }
  if (covertype_there) {
    const PrecisionTask task = covertype(context);
    if (context.quick()) {
      const auto d = (task.model.classes - 1) * task.model.columns();
      report.note(
          "The engine's own learning of λ on Covertype is not run with --quick: it would take "
          "longer than all the rest, with passes over {} rows for {} x {} matrices.",
          task.training.rows(), d, d);
    } else {
      methods.push_back(engine);
    }
    run_task(context, task, methods, 1.01, 0.4, 1, report);
    report.note("Covertype: {} of the 581,012 rows are there, split in the paper's proportion.",
                task.training.rows() + task.validation.rows());
  } else {
    report.note("Covertype is left out: {}.", no_covertype);
  }
  report.note(
      "The softmax of the library has one block of coefficients fewer than classes (class 0 is the "
      "base), so λ is not on the scale of eq. 35, which has one a class.");
  report.note(
      "The engine keeps D × D matrices, too large for the 7,065 parameters of MNIST: there θ moves "
      "by SGD outside of it, on the library's softmax model, at the rate of eq. 15 or, \"SGD-d\", "
      "at 2 S / max(n C_jj + λ, n Tr C / 100 D) with minibatches of 50 instead of 500.");
  report.note(
      "λ moves in its logarithm. Eq. 22 as printed steps along the gradient of a sum over rows at "
      "a rate derived for their mean.");
  report.note(
      "Eq. 22 takes |θ|² of SGD's iterates for E|θ|². Where pixels are hardly ever inked there is "
      "no gradient noise: SGD stays at 0 there while the posterior is as wide as the prior, which "
      "makes the square too small and λ too large. \"With variances\" adds the posterior variances "
      "that the noise itself predicts, as far as a diagonal goes. At one rate for all directions "
      "SGD also takes long in those of little curvature, which a rate for each parameter "
      "(\"SGD-d\") is against. What each is worth says the loss over the curve's best.");
  report.note(
      "The two starts draw minibatches of their own: ± is the spread between them, that of the "
      "curve the spread of two runs. In the plots a learned λ and its loss stand in the middle of "
      "the two starts, with bars from one to the other.");
  report.note(
      "The paper shows Figure 6 as curves with a circle for each method and prints no number of "
      "it, so none stands beside ours.");
}

}  // namespace windhover::reproduce
