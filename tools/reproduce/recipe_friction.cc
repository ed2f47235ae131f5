// SGHMC against SGLD on an anisotropic Gaussian, and what friction does: tutorial Figure 7.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/density.h"
#include "windhover/tools/reproduce/library.h"
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {
namespace {

using Eigen::Index;
using Eigen::Matrix2d;
using Eigen::Matrix4d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector4d;
using nlohmann::ordered_json;

constexpr const char* kGroup = "Condition number 100 (Figure 7)";
constexpr double kCondition = 100;  // variances 1 and 100
constexpr std::size_t kRuns = 16;
constexpr double kRelaxationsABatch = 50;

// One coordinate of curvature lambda under a sampler's law: (theta, v) <- F (theta, v) + noise of
// covariance Q, from v <- beta v - H (lambda theta + e), theta <- theta + v.
class Recursion {
 public:
  Recursion(const SamplerConfig& config, const Told& told, Index coordinate, double lambda) {
    const auto d = static_cast<std::uint32_t>(told.curvature.rows());
    const OwnedSampler sampler(config, d);
    if (!ok(sampler->refresh(told.view()))) throw RunError("the sampler refuses its estimates");
    MatrixXd h(d, d);
    MatrixXd injected(d, d);
    sampler->law(h.data(), injected.data());
    const double rate = h(coordinate, coordinate);
    const double beta = sampler->momentum();
    f_ << 1 - rate * lambda, beta, -rate * lambda, beta;
    const Matrix2d q = Matrix2d::Constant(rate * rate * injected(coordinate, coordinate));
    squared_ = kronecker(f_);
    const Vector4d sigma = (Matrix4d::Identity() - squared_)
                               .partialPivLu()
                               .solve(Eigen::Map<const Vector4d>(q.data()));
    sigma_ = Eigen::Map<const Matrix2d>(sigma.data());
  }

  double variance() const { return sigma_(0, 0); }
  // Autocorrelations of theta at lags 0, 1, ..., count - 1.
  std::vector<double> correlations(std::size_t count) const {
    std::vector<double> rho;
    Vector2d covariance = sigma_.col(0);
    for (std::size_t k = 0; k < count; ++k) {
      rho.push_back(covariance[0] / variance());
      covariance = f_ * covariance;
    }
    return rho;
  }
  // Autocorrelation time of theta, 1 + 2 sum of rho_k, ...
  double time() const {
    const Vector2d sum = (Matrix2d::Identity() - f_).partialPivLu().solve(sigma_.col(0));
    return 2 * sum[0] / variance() - 1;
  }
  // ... and of theta^2: theta is Gaussian, so its squares have correlations rho_k^2.
  double squares_time() const {
    const Vector2d c = sigma_.col(0) / variance();
    Vector4d products;
    products << c[0] * c[0], c[1] * c[0], c[0] * c[1], c[1] * c[1];
    const Vector4d sum = (Matrix4d::Identity() - squared_).partialPivLu().solve(products);
    return 2 * sum[0] - 1;
  }
  double relaxation() const { return -1 / std::log(f_.eigenvalues().cwiseAbs().maxCoeff()); }

 private:
  // Of column-major 2 x 2 matrices: vec(F S F^T) = kronecker(F) vec(S).
  static Matrix4d kronecker(const Matrix2d& f) {
    Matrix4d k;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) k.block<2, 2>(2 * i, 2 * j) = f(i, j) * f;
    }
    return k;
  }

  Matrix2d f_;
  Matrix4d squared_;
  Matrix2d sigma_;
};

// Mass I, as the tutorial has it, or the curvature, as the engine tells it.
Told unit_mass() { return Told::noiseless(MatrixXd::Identity(2, 2)); }
Told curvature_mass() {
  return Told::noiseless(Vector2d(1, 1 / kCondition).asDiagonal().toDenseMatrix());
}

Recursion long_axis(const SamplerConfig& config, const Told& told) {
  return {config, told, 1, 1 / kCondition};
}
SamplerConfig sghmc(double friction) { return {.name = "sghmc", .friction = friction}; }

// Batch means of theta_2 and theta_2^2 about their exact means, and autocorrelations at `lags`.
ordered_json run_chain(const SamplerConfig& config, const Told& told, std::size_t batches,
                       const std::vector<std::size_t>& lags, std::uint64_t seed) {
  const Recursion exact = long_axis(config, told);
  const auto length = static_cast<std::size_t>(kRelaxationsABatch * exact.relaxation()) + 1;
  const auto gradient = [](const double* theta, double* g) {
    g[0] = theta[0];
    g[1] = theta[1] / kCondition;
  };
  Walk walk(config, told, gradient, Vector2d::Zero(), seed);
  for (std::size_t i = 0; i < length / 2; ++i) walk.step();
  std::vector<double> products(lags.size());
  double mean_square = 0;
  double square_square = 0;
  std::vector<double> path(length);
  for (std::size_t batch = 0; batch < batches; ++batch) {
    double mean = 0;
    double square = 0;
    for (double& x : path) {
      walk.step();
      x = walk.theta()[1];
      mean += x / static_cast<double>(length);
      square += (x * x - exact.variance()) / static_cast<double>(length);
    }
    mean_square += mean * mean;
    square_square += square * square;
    for (std::size_t l = 0; l < lags.size(); ++l) {
      double sum = 0;
      for (std::size_t i = 0; i + lags[l] < length; ++i) sum += path[i] * path[i + lags[l]];
      products[l] += sum / static_cast<double>(length - lags[l]) / exact.variance();
    }
  }
  const auto b = static_cast<double>(batches);
  for (double& p : products) p /= b;
  const double v = exact.variance();
  return {{"time", static_cast<double>(length) * mean_square / b / v},
          {"squares_time", static_cast<double>(length) * square_square / b / (2 * v * v)},
          {"correlations", products}};
}

// What batches of this length have in expectation; long ones the autocorrelation time.
double batch_time(const Recursion& exact, bool squares) {
  const auto length = static_cast<std::size_t>(kRelaxationsABatch * exact.relaxation()) + 1;
  const std::vector<double> rho = exact.correlations(length);
  double sum = 1;
  for (std::size_t k = 1; k < length; ++k) {
    sum += 2 * (1 - static_cast<double>(k) / static_cast<double>(length)) *
           (squares ? rho[k] * rho[k] : rho[k]);
  }
  return sum;
}

struct Curve {
  const char* label;
  SamplerConfig config;
  Told told;
  int colour;
};

void add_correlations(const Context& context, Report& report, Agreement& agreement) {
  const std::vector<Curve> curves = {{"sgld", {.name = "sgld"}, unit_mass(), 1},
                                     {"sghmc, mass I, a = 0.1", sghmc(0.1), unit_mass(), 2},
                                     {"sghmc, mass = curvature", sghmc(0.1), curvature_mass(), 0}};
  Panel panel{.title = "Long axis, points simulated (Fig. 7b)",
              .x_label = "lag (moves)",
              .y_label = "autocorrelation of theta_2",
              .legend = "top right",
              .x_range = {0, 500},
              .y_range = {-0.4, 1.6}};
  const std::vector<std::size_t> lags = {0, 25, 50, 75, 100, 150, 200, 300, 400, 500};
  for (const Curve& curve : curves) {
    const Recursion exact = long_axis(curve.config, curve.told);
    const std::vector<double> rho = exact.correlations(501);
    Series line{.label = fmt::format("{}, exact", curve.label),
                .x = {},
                .y = rho,
                .style = Style::kLine,
                .colour = curve.colour};
    for (std::size_t k = 0; k < rho.size(); ++k) line.x.push_back(static_cast<double>(k));
    panel.series.push_back(line);
    const auto batches = context.choose<std::size_t>(32, 200);
    // A batch of what forgets at once is shorter than the lags.
    const double length = kRelaxationsABatch * exact.relaxation();
    std::vector<std::size_t> within;
    for (const std::size_t lag : lags) {
      if (static_cast<double>(lag) < length / 2) within.push_back(lag);
    }
    const auto runs =
        replicated(context, fmt::format("correlation-{}", panel.series.size()),
                   fmt::format("{}, {} batches", settings_text(curve.config), batches), kRuns,
                   [&](std::uint64_t seed) {
                     return run_chain(curve.config, curve.told, batches, within, seed);
                   });
    Series points{.label = "", .x = {}, .y = {}, .style = Style::kPoints, .colour = curve.colour};
    for (std::size_t l = 0; l < within.size(); ++l) {
      const Estimate simulated = mean_of(runs, "correlations", l);
      points.x.push_back(static_cast<double>(within[l]));
      points.y.push_back(simulated.value);
      points.error.push_back(simulated.mcse);
      agreement.add(simulated, rho[within[l]]);
    }
    panel.series.push_back(points);
    const Estimate time = mean_of(runs, "time");
    agreement.add(time, batch_time(exact, false));
    report.add(Figure{
        .group = kGroup,
        .name = fmt::format("{}: autocorrelation time of theta_2, exact (moves)", curve.label),
        .ours = exact.time()});
    report.add(Figure{.group = kGroup,
                      .name = fmt::format("{}: the same, simulated", curve.label),
                      .ours = time.value,
                      .mcse = time.mcse});
  }
  report.add(panel);
  const Recursion sgld = long_axis(curves[0].config, curves[0].told);
  const Recursion momentum = long_axis(curves[1].config, curves[1].told);
  report.add(Figure{.group = kGroup,
                    .name = "sgld over sghmc (mass I, a = 0.1), autocorrelation time of theta_2",
                    .ours = sgld.time() / momentum.time(),
                    .papers = 10,
                    .papers_source = "Figure 7 (b), \"an order of magnitude\"",
                    .bar = at_least(10)});
}

// The friction of the least autocorrelation time of theta^2.
double best_friction(double* time) {
  double best = 0;
  *time = INFINITY;
  for (const double a : geometric(1e-3, 1, 3001)) {
    const double t = long_axis(sghmc(a), unit_mass()).squares_time();
    if (t < *time) *time = t, best = a;
  }
  return best;
}

void add_frictions(const Context& context, Report& report, Agreement& agreement) {
  Panel panel{.title = "Friction (Fig. 7c)",
              .x_label = "friction a, share of velocity lost a move",
              .y_label = "autocorrelation time (moves)",
              .log_x = true,
              .log_y = true,
              .legend = "top left",
              .y_range = {0.5, 1e7}};
  Series theta{.label = "theta_2, exact", .x = {}, .y = {}, .style = Style::kLine, .colour = 0};
  Series squares{.label = "theta_2^2, exact", .x = {}, .y = {}, .style = Style::kLine, .colour = 2};
  for (const double a : geometric(1e-3, 1, 121)) {
    const Recursion exact = long_axis(sghmc(a), unit_mass());
    theta.x.push_back(a);
    theta.y.push_back(exact.time());
    squares.x.push_back(a);
    squares.y.push_back(exact.squares_time());
  }
  Series points{
      .label = "theta_2, simulated", .x = {}, .y = {}, .style = Style::kPoints, .colour = 0};
  Series square_points{
      .label = "theta_2^2, simulated", .x = {}, .y = {}, .style = Style::kPoints, .colour = 2};
  for (const double a : {0.01, 0.03, 0.08, 0.2, 0.5, 1.0}) {
    const auto runs = replicated(context, fmt::format("friction-{}", a), settings_text(sghmc(a)),
                                 kRuns, [&](std::uint64_t seed) {
                                   return run_chain(sghmc(a), unit_mass(),
                                                    context.choose<std::size_t>(32, 200), {}, seed);
                                 });
    const Recursion exact = long_axis(sghmc(a), unit_mass());
    const Estimate time = mean_of(runs, "time");
    const Estimate square_time = mean_of(runs, "squares_time");
    agreement.add(time, batch_time(exact, false));
    agreement.add(square_time, batch_time(exact, true));
    for (Series* series : {&points, &square_points}) series->x.push_back(a);
    points.y.push_back(time.value);
    points.error.push_back(time.mcse);
    square_points.y.push_back(square_time.value);
    square_points.error.push_back(square_time.mcse);
  }
  const double level = long_axis({.name = "sgld"}, unit_mass()).time();
  double least = 0;
  const double best = best_friction(&least);
  // Their friction C is a / eta with h = eta^2; C = sqrt(M) = 1.
  const double h = 2 * (2 - best) * 0.05 / 1.05;
  const double k = 0.05 / 1.05;  // h = 2 (2 - a) k, and a = eta
  const double printed = std::sqrt(k * k + 4 * k) - k;
  panel.series = {theta, points, squares, square_points};
  panel.series.push_back({.label = "sgld, theta_2",
                          .x = {1e-3, 1},
                          .y = {level, level},
                          .style = Style::kDashes,
                          .colour = 1});
  panel.series.push_back({.label = "tutorial's rule, C = sqrt M",
                          .x = {printed, printed},
                          .y = {0.5, 1e4},
                          .style = Style::kDashes,
                          .colour = 7});
  report.add(panel);
  report.add(Figure{.group = kGroup,
                    .name = "friction C of the least time of theta_2^2 (M = 1)",
                    .ours = best / std::sqrt(h),
                    .papers = 1,
                    .papers_source = "section 7.6, C about sqrt M"});
  report.add(Figure{.group = kGroup,
                    .name = "critical damping, 2 sqrt(M lambda)",
                    .ours = 2 / std::sqrt(kCondition)});
  report.add(Figure{.group = kGroup, .name = "least time of theta_2^2 (moves)", .ours = least});
  report.add(Figure{.group = kGroup,
                    .name = "time of theta_2^2 at the tutorial's rule (moves)",
                    .ours = long_axis(sghmc(printed), unit_mass()).squares_time()});
}

// Times over the condition number, at the bias of 5 % that the computed steps have on the short
// axis.
void add_conditions(Report& report) {
  Panel panel{.title = "Least autocorrelation time, exact",
              .x_label = "condition number",
              .y_label = "time of theta_2^2 (moves)",
              .log_x = true,
              .log_y = true,
              .legend = "top left",
              .y_range = {1, 1e8}};
  Series sgld{.label = "sgld", .x = geometric(10, 1e5, 9), .y = {}, .colour = 1};
  Series unit{.label = "sghmc, mass I, best friction", .x = sgld.x, .y = {}, .colour = 2};
  Series curved{.label = "sghmc, mass = curvature", .x = sgld.x, .y = {}, .colour = 0};
  for (const double condition : sgld.x) {
    const auto squares = [&](const SamplerConfig& config, const Told& told) {
      return Recursion(config, told, 1, 1 / condition).squares_time();
    };
    sgld.y.push_back(squares({.name = "sgld"}, unit_mass()));
    double least = INFINITY;
    for (const double a : geometric(1e-4, 1, 401))
      least = std::min(least, squares(sghmc(a), unit_mass()));
    unit.y.push_back(least);
    const Told told = Told::noiseless(Vector2d(1, 1 / condition).asDiagonal().toDenseMatrix());
    curved.y.push_back(squares(sghmc(0.1), told));
  }
  const auto slope = [&](const Series& s) { return log_slope(s.x, s.y, s.y).value; };
  report.add(Figure{.group = kGroup,
                    .name = "slope of the time over the condition number: sgld",
                    .ours = slope(sgld),
                    .papers = 1,
                    .papers_source = "section 7.6, O(kappa)"});
  report.add(Figure{.group = kGroup,
                    .name = "the same: sghmc, mass I, best friction",
                    .ours = slope(unit),
                    .papers = 0.5,
                    .papers_source = "section 7.6, O(sqrt kappa)"});
  const Recursion far_sgld({.name = "sgld"}, unit_mass(), 1, 1e-4);
  double least = INFINITY;
  for (const double a : geometric(1e-4, 1, 401)) {
    least = std::min(least, Recursion(sghmc(a), unit_mass(), 1, 1e-4).squares_time());
  }
  report.add(Figure{.group = kGroup,
                    .name = "sgld over sghmc (mass I, best friction) at condition number 10^4",
                    .ours = far_sgld.squares_time() / least,
                    .papers = 100,
                    .papers_source = "section 7.6"});
  panel.series = {sgld, unit, curved};
  report.add(panel);
}

}  // namespace

void add_friction(const Context& context, Report& report) {
  Agreement agreement;
  add_correlations(context, report, agreement);
  add_frictions(context, report, agreement);
  add_conditions(report);
  agreement.add_to(report, kGroup);
  report.note(
      "Friction: N(0, diag(1, 100)). Exact values come from the law that each sampler says it "
      "moves by, as a recursion in discrete time; simulated ones are batch means of 50 relaxations "
      "about the known mean. All take their computed step, whose bias is 5 % of the variance in "
      "the short direction. \"Mass I\" is the tutorial's SGHMC: the library's, told the "
      "curvature I; its a is eta C and its h is eta^2. Told the curvature itself, as the engine "
      "does, the condition number is gone.");
  report.note(
      "The U of Figure 7 (c) is not the autocorrelation time of theta: that is 2a / (h lambda) but "
      "for a factor near 1 and goes to 0 with the friction, because the correlations alternate and "
      "cancel. Energy, and with it theta^2, is what too little friction does not mix: its time "
      "has the U, with its minimum at half of critical damping, C = sqrt(M lambda). The tutorial's "
      "rule C = sqrt M is that for a curvature of 1; for the long axis, whose curvature is 0.01, "
      "it is ten times too much.");
}

}  // namespace windhover::reproduce
