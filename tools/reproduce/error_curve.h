// Class probabilities of networks; a chain outside an engine, and its test error along the way.
#ifndef WINDHOVER_TOOLS_REPRODUCE_ERROR_CURVE_H_
#define WINDHOVER_TOOLS_REPRODUCE_ERROR_CURVE_H_

#include <memory>

#include "windhover/samplers/estimates/noise_covariance.h"
#include "windhover/samplers/models/network.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/placed.h"
#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {

// A model "mlp-softmax" or "drbm" on given rows. One thread. `data` must outlive it.
class Classifier {
 public:
  Classifier(const ModelConfig& config, const Dataset& data);

  // Classes by rows.
  Eigen::MatrixXf probabilities(const std::vector<double>& theta);
  // The share of rows whose most probable class is not their class.
  double error(const Eigen::MatrixXf& probabilities) const;
  double error(const std::vector<double>& theta) { return error(probabilities(theta)); }

 private:
  const Dataset& data_;
  NetworkShape shape_;
  Placed<NetworkBatch> batch_;
  std::vector<double> values_;
};

// The error of class probabilities averaged over the second half of the iterates seen so far, so
// that no burn-in has to be chosen.
class AveragedError {
 public:
  explicit AveragedError(Classifier& classifier) : classifier_(classifier) {}
  // Adds an iterate.
  void look(const std::vector<double>& theta);
  double error() const;
  // The error of the last iterate alone.
  double error_alone() const { return classifier_.error(looked_.back()); }

 private:
  Classifier& classifier_;
  std::vector<Eigen::MatrixXf> looked_;
};

enum class Measured : std::uint8_t {
  kNothing,   // for samplers with a step of their own
  kDiagonal,  // the diagonals of C and A
  kMatrices,  // C and A
};

// A chain of a sampler by name, outside an engine. The sampler is told what Algorithm 1 of Ahn,
// Korattikara and Welling 2012 measures: C, the covariance of the rows' gradients within
// minibatches, averaged along the chain with weight 1 / t. A follows from the information equality:
// A = C + Lambda / n.
class ToldChain {
 public:
  // Starts at the model's random initial parameters. `model` must outlive this. The first estimates
  // use `first_rows` rows there. At most `refresh_every` steps lie between two updates of the
  // estimates, fewer at first.
  ToldChain(OwnedModel& model, const SamplerConfig& config, Measured measured,
            std::uint64_t first_rows, std::uint64_t refresh_every, std::uint64_t seed);

  const std::vector<double>& theta() const { return memory_.theta; }
  // False from the first step on that leaves theta not finite.
  bool step();
  // Gradients of single rows, those of the estimates included.
  std::uint64_t examples() const { return examples_; }

 private:
  void look();
  void tell();

  OwnedModel& model_;
  SamplerConfig config_;
  Measured measured_;
  std::uint64_t refresh_every_;
  std::uint64_t seed_;
  OwnedSampler sampler_;
  ChainMemory memory_;
  std::unique_ptr<Placed<NoiseCovariance>> noise_;
  std::vector<double> curvature_;
  std::vector<double> covariance_;
  std::vector<std::uint32_t> slots_;
  std::uint64_t step_ = 0;
  std::uint64_t next_look_ = 1;
  std::uint64_t examples_ = 0;
  bool sound_ = true;
};

// The settings of one training run.
struct Training {
  ModelConfig model;
  double prior_precision = 1;  // for every parameter
  SamplerConfig sampler;
  Measured measured = Measured::kNothing;
  std::uint64_t first_rows = 0;  // of ToldChain, as refresh_every
  std::uint64_t refresh_every = 100;
  std::uint64_t steps = 1000;
  std::uint64_t looks = 20;  // measurements of the error, steps / looks apart

  std::string text() const;  // the settings of a part (context.h)
};

// Per look: gradients of single rows, and errors of averaged predictions (AveragedError) and of the
// iterates alone; the last errors are NaN if the chain diverged. Also the run's seconds.
struct ErrorCurve {
  std::vector<double> examples;
  std::vector<double> error;
  std::vector<double> alone;
  double seconds = 0;

  ordered_json json() const;
};
ErrorCurve curve_from(const ordered_json& json);
// Runs jobs, each of which gives the JSON of a curve.
std::vector<ErrorCurve> run_curves(const Context& context, const std::vector<PartJob>& jobs,
                                   const Stage& stage = {});

// The mean of shares of errors on the same `rows` rows, one share per seed. Its standard error
// combines in quadrature the spread over seeds, where there are several, and the sampling error of
// so many rows.
Estimate share_of_errors(const std::vector<double>& shares, std::size_t rows);
// The note on share_of_errors() in a report.
inline constexpr const char* kShareNote =
    "± of a test or validation error: the spread of the seeds, where there are several, and that "
    "of a share of so many rows, sqrt(s²/R + p (1 - p)/n). All methods are judged on the same "
    "rows, so that differences between them are more certain than that.";

// Runs any chain that has step(), theta() and examples() like ToldChain. Calls `visit` at every
// look with the share done.
template <class Chain>
ErrorCurve follow(Chain& chain, Classifier& classifier, std::uint64_t steps, std::uint64_t looks,
                  const std::function<void(double)>& visit = {}) {
  const double start = wall_seconds();
  AveragedError averaged(classifier);
  ErrorCurve curve;
  for (std::uint64_t s = 1; s <= steps; ++s) {
    const bool sound = chain.step();
    if (sound && s % (steps / looks) != 0) continue;
    if (sound) averaged.look(chain.theta());
    curve.examples.push_back(static_cast<double>(chain.examples()));
    curve.error.push_back(sound ? averaged.error() : NAN);
    curve.alone.push_back(sound ? averaged.error_alone() : NAN);
    if (visit) visit(static_cast<double>(s) / static_cast<double>(steps));
    if (!sound) break;
  }
  curve.seconds = wall_seconds() - start;
  return curve;
}

ErrorCurve error_curve(const Training& training, const Dataset& rows, const Dataset& judged,
                       std::uint64_t seed);

// Reports runs of one method with different seeds, judged on `rows` rows: figures of their last
// errors times `scale`, and their mean curve for a plot, with the errors of share_of_errors().
void add_ends(Report& report, const std::string& group, const std::string& label,
              const std::string& unit, double scale, std::size_t rows,
              const std::vector<ErrorCurve>& runs, std::optional<double> papers = {},
              const std::string& papers_source = {}, int papers_decimals = -1);
Series mean_curve(const std::string& label, int colour, double scale, std::size_t rows,
                  const std::vector<ErrorCurve>& runs);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_ERROR_CURVE_H_
