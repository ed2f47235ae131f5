// The parts of `complete-recipe`, and shared code: agreement with exact laws, slopes, ratios of
// paired runs, sentences chosen by a figure; the tutorial's regression; a sampler with momentum on
// a Gaussian; samplers with a metric.
#ifndef WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_
#define WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_

#include "windhover/samplers/langevin/metric.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/laws.h"

namespace windhover::reproduce {

// Each adds its figures, panels and findings.
void add_metric(const Context& context, Report& report);        // Figure 2
void add_mixture(const Context& context, Report& report);       // Figure 5
void add_running_mean(const Context& context, Report& report);  // Figure 6
void add_friction(const Context& context, Report& report);      // Figure 7
void add_conditions(Report& report);                            // section 7.6
void add_bias(const Context& context, Report& report);          // Figure 8
void add_variance(const Context& context, Report& report);      // section 9.2
void add_estimates(const Context& context, Report& report);     // Figure 9
void add_funnel(const Context& context, Report& report);        // Figure 10

// How far simulated figures of one part are from their exact values.
class Agreement {
 public:
  void add(const Estimate& simulated, double exact);
  // Adds the largest distance, in standard errors, with a bar of 4.
  void add_to(Report& report, const std::string& group) const;

 private:
  double furthest_ = 0;
  int count_ = 0;
};

// The slope of log y over log x by least squares; `error` are standard errors of y.
Estimate log_slope(const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<double>& error);

// The mean of `a` over the mean of `b`, for runs of the same seeds in the same order. The
// jackknife's error leaves out what they have in common.
Estimate paired_ratio(const std::vector<double>& a, const std::vector<double>& b);

// Sentences of a note for a figure that is more than three standard errors above its comparison,
// below it, or neither. An exact figure has no error.
struct Sentences {
  std::string above, below, neither;
};
std::string sentence(const Estimate& figure, double compared_with, const Sentences& sentences);
// The square root of a figure, with the error that follows.
Estimate root(const Estimate& square);
// E.g. "1.05 ± 0.01".
std::string shown(const Estimate& figure);

// `count` points from `first` to `last` at equal ratios; the same rounded; and points at equal
// distances.
std::vector<double> geometric(double first, double last, std::size_t count);
std::vector<std::size_t> geometric_marks(double first, double last, std::size_t count);
std::vector<double> evenly(double first, double distance, std::size_t count);

// The density from the histograms "shares" of all runs, with `bins` bins from -reach to reach, less
// `without` bins at either end.
Series density(const std::string& label, int colour, const std::vector<ordered_json>& runs,
               double reach, std::size_t bins, std::size_t without = 0);

// 100 rows of two standard normal features, coefficients (1, -0.5), noise N(0, 1), prior N(0, I),
// no intercept. `minibatch_size` enters the estimates that samplers are told.
Problem recipe_regression(std::uint64_t seed, std::uint32_t minibatch_size);

// The stationary covariance of a sampler that has a law. With momentum, that of `sghmc` with the
// preconditioner h A^-1.
MatrixXd exact_covariance_of(const Problem& problem, const SamplerConfig& config);
// The same for `sgld-cv` with its anchor at mode + offset: the noise is that of the rows'
// curvatures alone.
MatrixXd anchored_covariance(const Problem& problem, double step, const VectorXd& offset);
// The excess of a covariance: the mean over directions of variance / posterior variance - 1.
double excess(const Problem& problem, const MatrixXd& covariance);
// {"excess": that of a chain's iterates about the posterior mean}, after `left_out` moves.
ordered_json run_excess(KnownChain& chain, const Problem& problem, std::uint64_t left_out,
                        std::uint64_t moves);

// A sampler on one coordinate of a Gaussian with curvature lambda, exactly and in discrete time: v
// <- beta v - H (lambda theta + e), theta <- theta + v. As (theta, v) <- F (theta, v) + noise of
// covariance Q.
class Recursion {
 public:
  Recursion(const SamplerConfig& config, const Told& told, Index coordinate, double lambda);

  double variance() const { return sigma_(0, 0); }
  // Autocorrelations of theta at lags 0, 1, ..., count - 1.
  std::vector<double> correlations(std::size_t count) const;
  // The autocorrelation time of theta, 1 + 2 sum of rho_k.
  double time() const;
  // That of theta^2: theta is Gaussian, so its squares have the correlations rho_k^2.
  double squares_time() const;
  // Moves in which the influence of the start falls by a factor of e.
  double relaxation() const;

 private:
  Matrix2d f_;
  Eigen::Matrix4d squared_;
  Matrix2d sigma_;
};

struct MetricMethod {
  std::string label;
  SamplerConfig config;
  int colour = 0;
  bool drawn = false;
  bool barred = false;
};

SamplerConfig with_metric(const Metric& metric, double step);

// Every `thin`-th of `moves` moves of one chain, which is told the curvature I and no noise.
Series path(const MetricMethod& method, void (*gradient)(const double*, double*),
            const Vector2d& start, std::size_t moves, std::size_t thin, std::uint64_t seed);

// Reports runs whose parameters did not stay finite: they have no means, and then the figures over
// all runs have none either.
void add_lost(Report& report, const std::string& group, const std::string& label,
              const std::vector<ordered_json>& runs);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_RECIPE_PARTS_H_
