#include "windhover/tools/reproduce/recipe_parts.h"

#include <Eigen/LU>
#include <numeric>
#include <unsupported/Eigen/KroneckerProduct>

#include "windhover/platform/random.h"
#include "windhover/tools/error.h"

namespace windhover::reproduce {

using Eigen::Matrix4d;
using Eigen::Vector4d;

void Agreement::add(const Estimate& simulated, double exact) {
  const double off = std::abs(simulated.value - exact) / simulated.mcse;
  // A figure that is not finite is infinitely far off.
  furthest_ = std::isfinite(off) ? std::max(furthest_, off) : INFINITY;
  ++count_;
}

void Agreement::add_to(Report& report, const std::string& group) const {
  Table(report, group)
      .add(fmt::format("furthest of {} simulated figures from their exact values (standard errors)",
                       count_),
           furthest_)
      .held_to(at_most(4));
}

Estimate log_slope(const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<double>& error) {
  double total = 0;
  double mean_x = 0;
  double mean_y = 0;
  std::vector<double> weight;
  for (std::size_t i = 0; i < x.size(); ++i) {
    weight.push_back(std::pow(y[i] / error[i], 2));
    total += weight[i];
    mean_x += weight[i] * std::log(x[i]);
    mean_y += weight[i] * std::log(y[i]);
  }
  mean_x /= total;
  mean_y /= total;
  double squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = std::log(x[i]) - mean_x;
    squares += weight[i] * off * off;
    products += weight[i] * off * (std::log(y[i]) - mean_y);
  }
  return {products / squares, 1 / std::sqrt(squares)};
}

Estimate paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  const double sum_a = std::accumulate(a.begin(), a.end(), 0.0);
  const double sum_b = std::accumulate(b.begin(), b.end(), 0.0);
  Jackknife ratio{sum_a / sum_b, {}};
  for (std::size_t r = 0; r < a.size(); ++r) {
    ratio.without.push_back((sum_a - a[r]) / (sum_b - b[r]));
  }
  return ratio.estimate();
}

std::string sentence(const Estimate& figure, double compared_with, const Sentences& sentences) {
  const double off = figure.value - compared_with;
  if (off > 3 * figure.mcse) return sentences.above;
  if (off < -3 * figure.mcse) return sentences.below;
  return sentences.neither;
}

Estimate root(const Estimate& square) {
  const double value = std::sqrt(square.value);
  return {value, square.mcse / 2 / value};
}

std::string shown(const Estimate& figure) {
  return fmt::format("{:.4g} ± {:.2g}", figure.value, figure.mcse);
}

std::vector<double> geometric(double first, double last, std::size_t count) {
  std::vector<double> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(
        first * std::pow(last / first, static_cast<double>(i) / static_cast<double>(count - 1)));
  }
  return points;
}

std::vector<std::size_t> geometric_marks(double first, double last, std::size_t count) {
  std::vector<std::size_t> marks;
  for (const double m : geometric(first, last, count)) {
    marks.push_back(static_cast<std::size_t>(std::lround(m)));
  }
  return marks;
}

std::vector<double> evenly(double first, double distance, std::size_t count) {
  std::vector<double> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(first + distance * static_cast<double>(i));
  }
  return points;
}

Series density(const std::string& label, int colour, const std::vector<ordered_json>& runs,
               double reach, std::size_t bins, std::size_t without) {
  Series series = Series::points(label, colour);
  const double width = 2 * reach / static_cast<double>(bins);
  for (std::size_t b = without; b < bins - without; ++b) {
    const Estimate share = mean_of(runs, "shares", b);
    series.add(-reach + width * (static_cast<double>(b) + 0.5),
               {share.value / width, share.mcse / width});
  }
  return series;
}

Problem recipe_regression(std::uint64_t seed, std::uint32_t minibatch_size) {
  constexpr std::size_t kRows = 100;
  Problem problem = regression("regression", 2, minibatch_size);
  problem.data.names = {"x1", "x2"};
  problem.data.features.resize(2 * kRows);
  problem.data.targets.resize(kRows);
  fill_normals(seed, {.step = 1}, problem.data.features);
  fill_normals(seed, {.step = 2}, problem.data.targets);
  for (std::size_t i = 0; i < kRows; ++i) {
    problem.data.targets[i] += problem.data.row(i)[0] - 0.5 * problem.data.row(i)[1];
  }
  find_posterior(problem);
  return problem;
}

MatrixXd exact_covariance_of(const Problem& problem, const SamplerConfig& config) {
  const Told told = told_at_mode(problem);
  const SpreadNoise spread(problem);
  const Law law = law_of(config, told);
  const double momentum = OwnedSampler(config, told)->momentum();
  if (momentum == 0) {
    const auto sigma = exact_covariance(law, told, spread);
    if (!sigma) throw RunError("there is no stationary covariance");
    return *sigma;
  }
  // In coordinates in which A is I all directions follow one recursion, whose response to noise of
  // covariance W is h / (2a) / (1 - h / (2 (2 - a))) W.
  const double a = 1 - momentum;
  const double h = (law.preconditioner * told.curvature)(0, 0);
  const double response = h / (2 * a) / (1 - h / (2 * (2 - a)));
  const MatrixXd inverse = told.curvature.inverse();
  const auto sigma = fixed_covariance(problem.dimension(), [&](const MatrixXd& s) {
    const MatrixXd noise = (told.noise + spread(s)) / told.minibatch_size + law.injected;
    return std::optional(MatrixXd(response * inverse * noise * inverse));
  });
  if (!sigma) throw RunError("there is no stationary covariance");
  return *sigma;
}

MatrixXd anchored_covariance(const Problem& problem, double step, const VectorXd& offset) {
  Told told = told_at_mode(problem);
  const SpreadNoise spread(problem);
  const Law law = law_of({.name = "sgld", .step_size = step}, told);
  told.noise = spread(offset * offset.transpose());
  const auto sigma = exact_covariance(law, told, spread);
  if (!sigma) throw RunError("there is no stationary covariance");
  return *sigma;
}

double excess(const Problem& problem, const MatrixXd& covariance) {
  const MatrixXd precision = problem.n() * problem.posterior.curvature;
  return (precision * covariance).trace() / static_cast<double>(problem.dimension()) - 1;
}

ordered_json run_excess(KnownChain& chain, const Problem& problem, std::uint64_t left_out,
                        std::uint64_t moves) {
  const MatrixXd precision = problem.n() * problem.posterior.curvature;
  const VectorXd& mode = problem.posterior.mode;
  for (std::uint64_t i = 0; i < left_out; ++i) chain.step();
  double sum = 0;
  for (std::uint64_t i = 0; i < moves; ++i) {
    chain.step();
    const Vector2d off = chain.theta() - mode;
    sum += off.dot(precision * off) / 2 - 1;
  }
  return {{"excess", sum / static_cast<double>(moves)}};
}

Recursion::Recursion(const SamplerConfig& config, const Told& told, Index coordinate,
                     double lambda) {
  const Index d = told.curvature.rows();
  const OwnedSampler sampler(config, told);
  MatrixXd h(d, d);
  MatrixXd injected(d, d);
  sampler->law(h.data(), injected.data());
  const double rate = h(coordinate, coordinate);
  const double beta = sampler->momentum();
  f_ << 1 - rate * lambda, beta, -rate * lambda, beta;
  const Matrix2d q = Matrix2d::Constant(rate * rate * injected(coordinate, coordinate));
  squared_ = Eigen::kroneckerProduct(f_, f_);  // vec(F S F^T) = squared_ vec(S), column-major
  const Vector4d sigma =
      (Matrix4d::Identity() - squared_).partialPivLu().solve(Eigen::Map<const Vector4d>(q.data()));
  sigma_ = Eigen::Map<const Matrix2d>(sigma.data());
}

std::vector<double> Recursion::correlations(std::size_t count) const {
  std::vector<double> rho;
  Vector2d covariance = sigma_.col(0);
  for (std::size_t k = 0; k < count; ++k) {
    rho.push_back(covariance[0] / variance());
    covariance = f_ * covariance;
  }
  return rho;
}

double Recursion::time() const {
  const Vector2d sum = (Matrix2d::Identity() - f_).partialPivLu().solve(sigma_.col(0));
  return 2 * sum[0] / variance() - 1;
}

double Recursion::squares_time() const {
  const Vector2d c = sigma_.col(0) / variance();
  Vector4d products;
  products << c[0] * c[0], c[1] * c[0], c[0] * c[1], c[1] * c[1];
  const Vector4d sum = (Matrix4d::Identity() - squared_).partialPivLu().solve(products);
  return 2 * sum[0] - 1;
}

double Recursion::relaxation() const { return -1 / std::log(spectral_radius(f_)); }

}  // namespace windhover::reproduce
