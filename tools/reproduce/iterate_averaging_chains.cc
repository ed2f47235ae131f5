#include "windhover/tools/reproduce/iterate_averaging_chains.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/data_sets.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/hmc.h"
#include "windhover/tools/reproduce/laws.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {
namespace {

constexpr std::size_t kIasgRows = kIasgStepsAPass * kIasgMinibatch;
constexpr std::size_t kFeaturesThere = 10;

VectorXd start_of(const Problem& problem, std::size_t start, std::uint64_t seed) {
  VectorXd theta = problem.posterior.mode;
  if (start == 1) fill_normals(seed, {.purpose = Purpose::kInitialState}, entries_of(theta));
  return theta;
}

// The draws so far for each burn-in, and their moments at each checkpoint.
class Trajectories {
 public:
  explicit Trajectories(const Problem& problem)
      : exact_(problem.posterior.covariance),
        moments_(kIasgBurnIns.size(), Moments(problem.posterior.mode)),
        result_(ordered_json::array()) {
    for (std::size_t b = 0; b < moments_.size(); ++b) {
      result_.push_back({{"variances", ordered_json::array()}, {"error", ordered_json::array()}});
    }
  }

  // A draw that was finished after `pass` passes and took `length` of them.
  void add(double pass, double length, const double* theta) {
    for (std::size_t b = 0; b < moments_.size(); ++b) {
      if (pass - length >= kIasgBurnIns[b]) moments_[b].add(theta);
    }
  }
  void checkpoint() {
    for (std::size_t b = 0; b < moments_.size(); ++b) {
      const auto count = static_cast<double>(moments_[b].count());
      if (count < 2) {
        result_[b]["variances"].push_back(nullptr);
        result_[b]["error"].push_back(nullptr);
        continue;
      }
      const MatrixXd c = moments_[b].covariance() * (count / (count - 1));
      const VectorXd v = c.diagonal();
      result_[b]["variances"].push_back(std::vector<double>(v.data(), v.data() + v.size()));
      result_[b]["error"].push_back(relative_covariance_error(c, exact_));
      result_[b]["covariance"] = to_json(c);
    }
  }
  ordered_json result() const { return result_; }

 private:
  MatrixXd exact_;
  std::vector<Moments> moments_;
  ordered_json result_;
};

ordered_json stochastic(const Problem& problem, const SamplerConfig& config, const VectorXd& start,
                        const std::vector<double>& passes, std::uint64_t seed) {
  KnownChain chain(problem, config, seed, start);
  Trajectories trajectories(problem);
  // A draw of IASG is the mean over one pass.
  const std::uint64_t interval = config.name == "iasg" ? kIasgStepsAPass : 1;
  constexpr auto kPass = static_cast<double>(kIasgStepsAPass);
  const double length = static_cast<double>(interval) / kPass;
  for (const double end : passes) {
    while (static_cast<double>(chain.steps()) < end * kPass) {
      chain.step();
      if (chain.steps() % interval == 0) {
        trajectories.add(static_cast<double>(chain.steps()) / kPass, length, chain.theta().data());
      }
    }
    trajectories.checkpoint();
  }
  return trajectories.result();
}

// A gradient on all rows is a pass. The step is found at the start by doubling, and the mass is I:
// a warm-up, whose draws are not counted, would leave the start behind.
ordered_json no_u_turn(const Problem& problem, const VectorXd& start,
                       const std::vector<double>& passes, std::uint64_t seed) {
  LogPosterior posterior(problem);
  const reference::LogDensity density = posterior.density();
  std::vector<std::vector<double>> visited;  // at each gradient
  const reference::LogDensity counted = [&](const std::vector<double>& theta,
                                            std::vector<double>& gradient) {
    visited.push_back(theta);
    return density(theta, gradient);
  };
  const reference::Options options{.warm_up = 0,
                                   .draws = std::numeric_limits<std::size_t>::max(),
                                   .most_gradients = static_cast<std::size_t>(passes.back()),
                                   .seed = seed};
  const reference::Run run = reference::no_u_turn(counted, {start.begin(), start.end()}, options);
  Trajectories trajectories(problem);
  std::size_t next = 0;
  std::size_t gradients = 0;  // when the draw was found; one that stays in place takes no more
  const auto find = [&] {
    std::size_t at = gradients;
    while (at < visited.size() && visited[at] != run.draws[next]) ++at;
    if (at < visited.size()) gradients = at;
    return static_cast<double>(gradients + 1);
  };
  for (const double end : passes) {
    for (; next < run.draws.size(); ++next) {
      const double pass = find();
      if (pass > end) break;
      trajectories.add(pass, 0, run.draws[next].data());
    }
    trajectories.checkpoint();
  }
  return trajectories.result();
}

}  // namespace

Problem iasg_problem(std::uint64_t seed) {
  Problem problem = regression("simulated regression", kFeaturesThere, kIasgMinibatch);
  std::vector<double> z(kIasgRows * (kFeaturesThere + 1) + kFeaturesThere);
  fill_normals(seed, {.purpose = Purpose::kTest}, z);
  const double* truth = z.data() + kIasgRows * (kFeaturesThere + 1);
  problem.data.features.assign(z.begin(), z.begin() + kIasgRows * kFeaturesThere);
  for (std::size_t i = 0; i < kIasgRows; ++i) {
    double y = z[kIasgRows * kFeaturesThere + i];
    for (std::size_t j = 0; j < kFeaturesThere; ++j) y += z[i * kFeaturesThere + j] * truth[j];
    problem.data.targets.push_back(y);
  }
  describe(problem.data, kFeaturesThere);
  find_posterior(problem);
  return problem;
}

SamplerConfig iasg_config(std::size_t method) {
  if (method == 0) {
    return {.name = "iasg", .minibatch_size = kIasgMinibatch, .step_size = kIasgRate};
  }
  // The paper's epsilon_t = 10^-3 / sqrt(1000 + t), times half the gradient of the log posterior.
  const double first = 1e-3 / std::sqrt(1000.0) * static_cast<double>(kIasgRows) / 2;
  return {.name = "sgld",
          .minibatch_size = kIasgMinibatch,
          .step_size = first,
          .step_decay = 0.5,
          .step_offset = 1000};
}

ordered_json iasg_chain(const Problem& problem, std::size_t method, std::size_t start,
                        const std::vector<double>& passes, std::uint64_t seed) {
  const VectorXd from = start_of(problem, start, seed);
  if (method == 2) return no_u_turn(problem, from, passes, seed);
  return stochastic(problem, iasg_config(method), from, passes, seed);
}

SamplerConfig iasg_single(bool averaged) {
  if (averaged) return {.name = "iasg", .minibatch_size = 1, .step_size = 0.005};
  // Without its noise SGLD is SGD at a constant rate.
  return {.name = "sgld", .minibatch_size = 1, .step_size = 0.005, .temperature = 0};
}

ordered_json iasg_single_chain(const Problem& problem, bool averaged, std::uint64_t passes,
                               std::uint64_t seed) {
  constexpr std::uint64_t kParts = 10;
  const std::uint64_t interval = averaged ? kIasgRows : 100;
  Problem single = problem;
  single.minibatch_size = 1;
  KnownChain chain(single, iasg_single(averaged), seed);
  ordered_json parts = ordered_json::array();
  for (std::uint64_t part = 0; part < kParts; ++part) {
    Moments moments(problem.posterior.mode);
    for (std::uint64_t step = 0; step < passes / kParts * kIasgRows; ++step) {
      chain.step();
      if (chain.steps() % interval == 0) moments.add(chain.theta().data());
    }
    parts.push_back(to_json(moments));
  }
  return parts;
}

// The iterates' covariance at lag k is R^k Sigma with R = I - rate A, summed in the eigenvectors of
// A.
VectorXd iasg_mean_variances(const Problem& problem) {
  const Told at_mode = told_at_mode(problem);
  const Index d = problem.dimension();
  const Law law{kIasgRate * MatrixXd::Identity(d, d), MatrixXd::Zero(d, d)};
  const MatrixXd sigma = exact_covariance(law, at_mode, SpreadNoise(problem)).value();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(at_mode.curvature);
  const MatrixXd& u = eigen.eigenvectors();
  constexpr auto kSteps = static_cast<double>(kIasgStepsAPass);
  // sum over k of (T - k) rho^k
  VectorXd sums(d);
  for (Index j = 0; j < d; ++j) {
    const double lost = kIasgRate * eigen.eigenvalues()[j];
    const double rho = 1 - lost;
    sums[j] = rho * (kSteps * lost - 1 + std::pow(rho, kSteps)) / (lost * lost);
  }
  MatrixXd mean = u.transpose() * sigma * u;
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) mean(i, j) *= (kSteps + sums[i] + sums[j]) / (kSteps * kSteps);
  }
  return (u * mean * u.transpose()).diagonal();
}

SgldLaw sgld_law(const Problem& problem, double passes, double burn_in) {
  const Told at_mode = told_at_mode(problem);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(at_mode.curvature);
  const Eigen::ArrayXd a = eigen.eigenvalues();
  const Eigen::ArrayXd c =
      (eigen.eigenvectors().transpose() * at_mode.noise * eigen.eigenvectors()).diagonal();
  const SamplerConfig config = iasg_config(1);
  const auto n = static_cast<double>(kIasgRows);
  const auto first = static_cast<std::uint64_t>(burn_in * static_cast<double>(kIasgStepsAPass));
  const auto steps = static_cast<std::uint64_t>(passes * static_cast<double>(kIasgStepsAPass));
  Eigen::ArrayXd v = Eigen::ArrayXd::Zero(a.size());
  Eigen::ArrayXd bare = v;
  Eigen::ArrayXd sum = v;
  Eigen::ArrayXd bare_sum = v;
  SgldLaw law;
  for (std::uint64_t t = 0; t < steps; ++t) {
    const double h = config.step_size *
                     std::pow(1 + static_cast<double>(t) / config.step_offset, -config.step_decay);
    const double injected = 2 * h / n;
    const double spread = (a * v).sum();
    v = (1 - h * a).square() * v + h * h * (c + a.square() * v + a * spread) / kIasgMinibatch +
        injected;
    bare = (1 - h * a).square() * bare + injected;
    law.at_the_end = h * n / (2 * kIasgMinibatch);
    law.relaxation_passes = 1 / (h * a.minCoeff()) / static_cast<double>(kIasgStepsAPass);
    if (t < first) continue;
    sum += v;
    bare_sum += bare;
    law.minibatch_over_injected += law.at_the_end;
  }
  const auto count = static_cast<double>(steps - first);
  law.minibatch_over_injected /= count;
  const MatrixXd squares = eigen.eigenvectors().cwiseAbs2();
  law.variances = squares * (sum / count).matrix();
  law.injected_alone = squares * (bare_sum / count).matrix();
  return law;
}

}  // namespace windhover::reproduce
