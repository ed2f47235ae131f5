// Gradients with less variance, and the bias that is left: tutorial section 9.2.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "windhover/tools/reproduce/recipe_parts.h"
#include "windhover/tools/reproduce/recipe_regression.h"

namespace windhover::reproduce {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::ordered_json;

constexpr const char* kGradientGroup = "Gradient variance over the distance from the mode";
constexpr const char* kBiasGroup = "Bias over the distance of the anchor from the mode";
constexpr std::uint32_t kBatch = 10;  // of 100 rows
constexpr double kStep = 0.05;

// Towards both coefficients at once, `distance` posterior standard deviations from the mode.
VectorXd offset(const Problem& problem, double distance) {
  const MatrixXd root = problem.posterior.covariance.llt().matrixL();
  return distance * root * VectorXd::Constant(2, std::sqrt(0.5));
}

// Of a minibatch gradient: the trace of its covariance, from all rows.
struct GradientVariance {
  double plain, anchored, bound;
};
GradientVariance gradient_variance(const Problem& problem, const VectorXd& off) {
  const MatrixXd x = design_matrix(problem);
  const Eigen::Map<const VectorXd> y(problem.data.targets.data(), x.rows());
  const VectorXd theta = problem.posterior.mode + off;
  const MatrixXd plain = (x * theta - y).asDiagonal() * x;
  const MatrixXd difference = (x * off).asDiagonal() * x;
  const auto trace = [](const MatrixXd& rows) {
    return (rows.rowwise() - rows.colwise().mean()).squaredNorm() /
           static_cast<double>(rows.rows() * kBatch);
  };
  // Section 9.2, for the mean loss: L^2 |theta - anchor|^2 / B, L the largest row's.
  const double lipschitz = x.rowwise().squaredNorm().maxCoeff();
  return {trace(plain), trace(difference), lipschitz * lipschitz * off.squaredNorm() / kBatch};
}

// Mean squared deviations of minibatch gradients at one place, plain and with the anchor.
ordered_json run_gradients(const Problem& problem, const VectorXd& off, std::size_t batches,
                           std::uint64_t seed) {
  OwnedModel model(problem.model, problem.data);
  std::vector<std::uint32_t> slots(kBatch);
  const VectorXd& mode = problem.posterior.mode;
  const VectorXd theta = mode + off;
  const VectorXd mean = problem.posterior.curvature * off;  // of the gradient, 0 at the mode
  VectorXd here(2);
  VectorXd there(2);
  double plain = 0;
  double anchored = 0;
  double printed = 0;  // (9.1) as printed, along the full gradient
  for (std::size_t i = 0; i < batches; ++i) {
    model.draw(seed, {.step = i, .purpose = Purpose::kMinibatch}, slots);
    model.gradient()(theta.data(), here.data());
    model.gradient()(mode.data(), there.data());
    plain += (here - mean).squaredNorm();
    anchored += (here - there - mean).squaredNorm();
    printed += (there - here).dot(mean) / mean.squaredNorm();
  }
  const auto n = static_cast<double>(batches);
  return {{"plain", plain / n}, {"anchored", anchored / n}, {"printed", printed / n}};
}

// What stands in the notes: at 1 sd from the anchor at the mode.
struct Nearby {
  Estimate ratio, printed;
};

Nearby add_gradients(const Context& context, Report& report, const Problem& problem) {
  Panel panel{.title = "Gradient variance, B = 10, points simulated (sec. 9.2)",
              .x_label = "distance from the mode (posterior sd)",
              .y_label = "variance of the gradient (trace, mean loss)",
              .log_x = true,
              .log_y = true,
              .legend = "outside bottom center horizontal"};
  Series plain{
      .label = "plain", .x = geometric(0.1, 100, 31), .y = {}, .style = Style::kLine, .colour = 1};
  Series anchored{
      .label = "anchor at the mode", .x = plain.x, .y = {}, .style = Style::kLine, .colour = 0};
  Series bound{
      .label = "tutorial's bound", .x = plain.x, .y = {}, .style = Style::kDashes, .colour = 7};
  for (const double distance : plain.x) {
    const GradientVariance v = gradient_variance(problem, offset(problem, distance));
    plain.y.push_back(v.plain);
    anchored.y.push_back(v.anchored);
    bound.y.push_back(v.bound);
  }
  Series plain_points{.label = "", .x = {}, .y = {}, .style = Style::kPoints, .colour = 1};
  Series anchored_points{.label = "", .x = {}, .y = {}, .style = Style::kPoints, .colour = 0};
  Agreement agreement;
  Nearby nearby;
  for (const double distance : {0.1, 1.0, 3.0, 10.0, 30.0, 100.0}) {
    const VectorXd off = offset(problem, distance);
    const auto runs =
        replicated(context, fmt::format("gradient-{}", distance), "", 8, [&](auto seed) {
          return run_gradients(problem, off, context.choose<std::size_t>(20'000, 200'000), seed);
        });
    const GradientVariance v = gradient_variance(problem, off);
    const Estimate p = mean_of(runs, "plain");
    const Estimate a = mean_of(runs, "anchored");
    agreement.add(p, v.plain);
    agreement.add(a, v.anchored);
    for (Series* series : {&plain_points, &anchored_points}) series->x.push_back(distance);
    plain_points.y.push_back(p.value);
    plain_points.error.push_back(p.mcse);
    anchored_points.y.push_back(a.value);
    anchored_points.error.push_back(a.mcse);
    if (distance != 1.0) continue;
    report.add(Figure{.group = kGradientGroup,
                      .name = "plain over anchored at 1 sd, exact",
                      .ours = v.plain / v.anchored,
                      .papers = 5,
                      .papers_source = "section 9.2, \"5 to 20\""});
    // Both from the same minibatches.
    nearby.ratio = paired_ratio(values_of(runs, "plain"), values_of(runs, "anchored"));
    nearby.printed = mean_of(runs, "printed");
    report.add(Figure{.group = kGradientGroup,
                      .name = "the same, simulated",
                      .ours = nearby.ratio.value,
                      .mcse = nearby.ratio.mcse});
    report.add(Figure{.group = kGradientGroup,
                      .name = "(9.1) as printed, at 1 sd: its mean over the full gradient, "
                              "simulated",
                      .ours = nearby.printed.value,
                      .mcse = nearby.printed.mcse,
                      .papers = 1,
                      .papers_source = "section 9.2, \"unbiased\""});
    report.add(Figure{.group = kGradientGroup,
                      .name = "the tutorial's bound over the anchored variance at 1 sd, simulated",
                      .ours = v.bound / a.value,
                      .mcse = v.bound / a.value * a.mcse / a.value,
                      .bar = at_least(1)});
  }
  const Estimate slope = log_slope(anchored_points.x, anchored_points.y, anchored_points.error);
  report.add(Figure{.group = kGradientGroup,
                    .name = "slope of the anchored variance over the distance, simulated",
                    .ours = slope.value,
                    .mcse = slope.mcse,
                    .papers = 2,
                    .papers_source = "section 9.2, bound"});
  report.add(Figure{.group = kGradientGroup,
                    .name = "the tutorial's bound over the anchored variance, exact by derivation",
                    .ours = bound.y[0] / anchored.y[0],
                    .bar = at_least(1)});
  agreement.add_to(report, kGradientGroup);
  // The tutorial's factors, where ours is taken: at 1 sd.
  const double at_one = gradient_variance(problem, offset(problem, 1)).plain;
  panel.series = {plain, plain_points, anchored, anchored_points, bound};
  panel.series.push_back({.label = "tutorial: plain / 5 to 20",
                          .x = {1, 1},
                          .y = {at_one / 5, at_one / 20},
                          .style = Style::kLinePoints,
                          .colour = 4,
                          .papers = true});
  report.add(panel);
  return nearby;
}

// The excess variance along one chain; without an offset, of plain sgld.
ordered_json run_chain(const Problem& problem, const VectorXd* anchor, std::size_t moves,
                       std::uint64_t seed) {
  const MatrixXd precision = problem.n() * problem.posterior.curvature;
  RegressionChain chain(problem, {.name = anchor ? "sgld-cv" : "sgld", .step_size = kStep}, seed);
  if (anchor) chain.set_anchor(problem.posterior.mode + *anchor);
  double sum = 0;
  for (std::size_t i = 0; i < 1000; ++i) chain.step();
  for (std::size_t i = 0; i < moves; ++i) {
    chain.step();
    const Eigen::Vector2d d = chain.theta() - problem.posterior.mode;
    sum += d.dot(precision * d) / 2 - 1;
  }
  return {{"excess", sum / static_cast<double>(moves)}};
}

// Excess variance of plain sgld, of an anchor at 1 sd and of one at 10 sd, and where an anchor
// stops paying.
struct Anchors {
  Estimate plain, near, far;
  double crossing = 0;
};

Anchors add_anchors(const Context& context, Report& report, const Problem& problem) {
  const double plain =
      excess(problem, exact_covariance_of(problem, {.name = "sgld", .step_size = kStep}));
  Series line{
      .label = "sgld-cv", .x = geometric(0.1, 30, 31), .y = {}, .style = Style::kLine, .colour = 0};
  for (const double distance : line.x) {
    line.y.push_back(
        excess(problem, anchored_covariance(problem, kStep, offset(problem, distance))));
  }
  Series points{.label = "", .x = {}, .y = {}, .style = Style::kPoints, .colour = 0};
  Agreement agreement;
  Anchors found;
  const auto moves = context.choose<std::size_t>(200'000, 2'000'000);
  const auto simulated_excess = [&](const std::string& key, const VectorXd* anchor) {
    return mean_of(replicated(context, key, fmt::format("step {}, {} moves", kStep, moves), 8,
                              [&](auto seed) { return run_chain(problem, anchor, moves, seed); }),
                   "excess");
  };
  for (const double distance : {0.1, 1.0, 3.0, 10.0, 30.0}) {
    const VectorXd off = offset(problem, distance);
    const Estimate simulated = simulated_excess(fmt::format("anchor-{}", distance), &off);
    if (distance == 1) found.near = simulated;
    if (distance == 10) found.far = simulated;
    const double exact = excess(problem, anchored_covariance(problem, kStep, off));
    agreement.add(simulated, exact);
    points.x.push_back(distance);
    points.y.push_back(simulated.value);
    points.error.push_back(simulated.mcse);
    report.add(Figure{.group = kBiasGroup,
                      .name = fmt::format("anchor {} sd away: excess variance, exact", distance),
                      .ours = exact});
    report.add(Figure{.group = kBiasGroup,
                      .name = fmt::format("anchor {} sd away: simulated", distance),
                      .ours = simulated.value,
                      .mcse = simulated.mcse});
  }
  found.plain = simulated_excess("anchor-none", nullptr);
  agreement.add(found.plain, plain);
  report.add(
      Figure{.group = kBiasGroup, .name = "plain sgld at the same step, exact", .ours = plain});
  report.add(Figure{.group = kBiasGroup,
                    .name = "plain sgld: simulated",
                    .ours = found.plain.value,
                    .mcse = found.plain.mcse});
  for (const double distance : geometric(1, 100, 201)) {
    const VectorXd off = offset(problem, distance);
    if (excess(problem, anchored_covariance(problem, kStep, off)) < plain)
      found.crossing = distance;
  }
  report.add(Figure{.group = kBiasGroup,
                    .name = "distance at which the anchor stops paying (sd), exact",
                    .ours = found.crossing});
  agreement.add_to(report, kBiasGroup);
  Panel panel{
      .title = fmt::format("Bias of the spread, h = {}, points simulated (sec. 9.2)", kStep),
      .x_label = "distance of the anchor from the mode (posterior sd)",
      .y_label = "excess variance",
      .log_x = true,
      .log_y = true,
      .legend = "bottom right"};
  panel.series = {
      line,
      points,
      {.label = "sgld", .x = {0.1, 30}, .y = {plain, plain}, .style = Style::kDashes, .colour = 1}};
  panel.series.push_back({.label = "",
                          .x = {0.1},
                          .y = {found.plain.value},
                          .error = {found.plain.mcse},
                          .style = Style::kPoints,
                          .colour = 1});
  report.add(panel);
  return found;
}

}  // namespace

void add_variance(const Context& context, Report& report) {
  const Problem problem = recipe_regression(context.seed(), kBatch);
  const Nearby nearby = add_gradients(context, report, problem);
  const Anchors anchors = add_anchors(context, report, problem);
  report.note(fmt::format(
      "Variance: the same regression, B = {}, step h = {}. A distance is that of (theta - mode) in "
      "posterior standard deviations, towards both coefficients; control variates are `sgld-cv`'s. "
      "The tutorial's (9.1) adds the difference of grad log p to the gradient of U = -log p, and "
      "so "
      "has the mean 2 grad U(anchor) - grad U(theta): with the anchor at the mode the gradient's "
      "negative, a move up in U (measured: {} of it).",
      kBatch, kStep, shown(nearby.printed)));
  const auto against = [&](const Estimate& anchored) {
    const Estimate more{anchored.value - anchors.plain.value,
                        std::hypot(anchored.mcse, anchors.plain.mcse)};
    return fmt::format("{}, {}", shown(anchored),
                       sentence(more, 0, {"more", "less", "as much as can be told"}));
  };
  report.note(fmt::format(
      "At 1 sd from its anchor the gradient's variance falls by a factor of {}, {} the tutorial's "
      "20. Of the spread, plain `sgld` has an excess of {}; with an anchor at 1 sd it is {}, with "
      "one at 10 sd {}. By the exact laws an anchor pays up to {:.3g} sd.",
      shown(nearby.ratio),
      sentence(nearby.ratio, 20, {"more than", "less than", "not to be told from"}),
      shown(anchors.plain), against(anchors.near), against(anchors.far), anchors.crossing));
}

}  // namespace windhover::reproduce
