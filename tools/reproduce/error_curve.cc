#include "windhover/tools/reproduce/error_curve.h"

#include "windhover/tools/error.h"

namespace windhover::reproduce {

Classifier::Classifier(const ModelConfig& config, const Dataset& data)
    : data_(data),
      shape_(config, Response::kCategorical),
      batch_(shape_),
      values_(shape_.values()) {}

Eigen::MatrixXf Classifier::probabilities(const std::vector<double>& theta) {
  const std::size_t outputs = shape_.outputs();
  Eigen::MatrixXf all(static_cast<Index>(outputs) + 1, static_cast<Index>(data_.rows()));
  VectorXd eta = VectorXd::Zero(all.rows());  // the predictor of class 0 is 0
  const auto set = [&](std::size_t row, const auto& predictor) {
    for (std::size_t c = 0; c < outputs; ++c) eta[static_cast<Index>(c) + 1] = predictor(c);
    const Eigen::ArrayXd p = (eta.array() - eta.maxCoeff()).exp();
    all.col(static_cast<Index>(row)) = (p / p.sum()).cast<float>();
  };
  if (shape_.kind == NetworkKind::kBoltzmann) {
    for (std::size_t i = 0; i < data_.rows(); ++i) {
      const double* head = shape_.forward(theta.data(), data_.row(i), values_.data());
      set(i, [&](std::size_t c) { return head[c]; });
    }
    return all;
  }
  for (std::size_t first = 0; first < data_.rows(); first += NetworkBatch::kRows) {
    const std::size_t rows = std::min(NetworkBatch::kRows, data_.rows() - first);
    std::copy_n(data_.row(first), rows * data_.columns(), batch_->features(0));
    batch_->forward(theta.data(), rows);
    for (std::size_t i = 0; i < rows; ++i) {
      set(first + i, [&](std::size_t c) { return batch_->predictor(c, i); });
    }
  }
  return all;
}

double Classifier::error(const Eigen::MatrixXf& probabilities) const {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < data_.rows(); ++i) {
    Index best = 0;
    probabilities.col(static_cast<Index>(i)).maxCoeff(&best);
    if (best != static_cast<Index>(data_.targets[i])) ++wrong;
  }
  return static_cast<double>(wrong) / static_cast<double>(data_.rows());
}

void AveragedError::look(const std::vector<double>& theta) {
  looked_.push_back(classifier_.probabilities(theta));
}

double AveragedError::error() const {
  Eigen::MatrixXf sum = looked_.back();
  for (std::size_t i = looked_.size() / 2; i + 1 < looked_.size(); ++i) sum += looked_[i];
  return classifier_.error(sum);
}

namespace {

constexpr std::uint16_t kFirstChain = 1;  // the chain number of the first estimates' minibatches

}  // namespace

ToldChain::ToldChain(OwnedModel& model, const SamplerConfig& config, Measured measured,
                     std::uint64_t first_rows, std::uint64_t refresh_every, std::uint64_t seed)
    : model_(model),
      config_(config),
      measured_(measured),
      refresh_every_(refresh_every),
      seed_(seed),
      sampler_(config, model.dimension()),
      memory_(sampler_, config, model.dimension()),
      slots_(config.minibatch_size) {
  const std::size_t d = model.dimension();
  model.model().initial(seed, memory_.theta.data());
  curvature_.assign(measured == Measured::kNothing ? d : d * d,
                    measured == Measured::kNothing ? 1.0 : 0.0);
  covariance_ = curvature_;
  if (measured != Measured::kNothing) {
    SamplerConfig estimator = config;
    estimator.decay = DecaySchedule::kHarmonic;
    estimator.noise_structure =
        measured == Measured::kMatrices ? NoiseStructure::kFull : NoiseStructure::kDiagonal;
    noise_ = std::make_unique<Placed<NoiseCovariance>>(estimator, model.dimension());
    (*noise_)->reset();
    for (std::uint64_t i = 0; i * slots_.size() < first_rows; ++i) {
      model_.draw(seed_, {.step = i, .chain = kFirstChain, .purpose = Purpose::kMinibatch}, slots_);
      look();
    }
  }
  tell();
  Rng rng(seed, {.purpose = Purpose::kInitialState});
  sampler_->start(memory_.chain, rng);
}

void ToldChain::look() {
  (*noise_)->add_minibatch(model_.model(), model_.batch(slots_), memory_.theta.data());
  examples_ += slots_.size();
}

void ToldChain::tell() {
  const std::size_t d = model_.dimension();
  Estimates e{.dimension = model_.dimension(),
              .n = static_cast<double>(model_.row_count()),
              .minibatch_size = static_cast<double>(config_.minibatch_size)};
  if (measured_ == Measured::kNothing) {
    e.curvature_diagonal = curvature_.data();
    e.noise_variances = covariance_.data();
  } else {
    const std::size_t width = matrix_width(d);
    for (std::size_t j = 0; j < d; ++j) {
      if (measured_ == Measured::kDiagonal) {
        covariance_[j * (d + 1)] = (*noise_)->variances()[j];
        continue;
      }
      for (std::size_t i = j; i < d; ++i) {
        covariance_[j * d + i] = covariance_[i * d + j] = (*noise_)->matrix()[j * width + i];
      }
    }
    curvature_ = covariance_;
    for (std::size_t j = 0; j < d; ++j) curvature_[j * (d + 1)] += model_.prior()[j] / e.n;
    e.curvature = curvature_.data();
    e.noise_covariance = covariance_.data();
  }
  const Status status = sampler_->refresh(e);
  // The first refresh must succeed; a later one that fails leaves the sampler as it was.
  if (!ok(status) && step_ == 0) {
    throw RunError(std::string(config_.name) + " refuses its first estimates");
  }
}

bool ToldChain::step() {
  if (!sound_) return false;
  model_.draw(seed_, {.step = step_, .purpose = Purpose::kMinibatch}, slots_);
  if (measured_ != Measured::kNothing && step_ == next_look_) {
    look();
    tell();
    next_look_ += std::clamp<std::uint64_t>(next_look_ / 2, 1, refresh_every_);
  }
  Rng rng(seed_, {.step = step_, .purpose = Purpose::kInjectedNoise});
  ++step_;
  examples_ += slots_.size();
  sound_ = ok(sampler_->step(memory_.chain, model_.gradient(), rng));
  return sound_;
}

std::string Training::text() const {
  return fmt::format(
      "{} of {} and {} units, lambda {}, {}, told {} from {} rows every {}, {} steps, {} looks",
      model.name, model.hidden, model.hidden2, prior_precision, settings_text(sampler),
      static_cast<int>(measured), first_rows, refresh_every, steps, looks);
}

ordered_json ErrorCurve::json() const {
  return {{"examples", examples}, {"error", error}, {"alone", alone}, {"seconds", seconds}};
}

ErrorCurve curve_from(const ordered_json& json) {
  return {numbers_from(json.at("examples")), numbers_from(json.at("error")),
          numbers_from(json.at("alone")), number_from(json.at("seconds"))};
}

std::vector<ErrorCurve> run_curves(const Context& context, const std::vector<PartJob>& jobs,
                                   const Stage& stage) {
  std::vector<ErrorCurve> curves;
  for (const ordered_json& json : context.run_parts(jobs, stage))
    curves.push_back(curve_from(json));
  return curves;
}

ErrorCurve error_curve(const Training& training, const Dataset& rows, const Dataset& judged,
                       std::uint64_t seed) {
  OwnedModel model(training.model, rows);
  std::ranges::fill(model.prior(), training.prior_precision);
  ToldChain chain(model, training.sampler, training.measured, training.first_rows,
                  training.refresh_every, seed);
  Classifier classifier(training.model, judged);
  return follow(chain, classifier, training.steps, training.looks);
}

Estimate share_of_errors(const std::vector<double>& shares, std::size_t rows) {
  const Estimate seeds = mean_over_seeds(shares);
  const double share = seeds.value;
  return {share,
          std::hypot(seeds.mcse, std::sqrt(share * (1 - share) / static_cast<double>(rows)))};
}

void add_ends(Report& report, const std::string& group, const std::string& label,
              const std::string& unit, double scale, std::size_t rows,
              const std::vector<ErrorCurve>& runs, std::optional<double> papers,
              const std::string& papers_source, int papers_decimals) {
  Table table(report, group);
  for (const bool averaged : {true, false}) {
    std::vector<double> ends;
    ends.reserve(runs.size());
    for (const ErrorCurve& run : runs) {
      ends.push_back((averaged ? run.error : run.alone).back());
    }
    Figure& figure =
        table.add(fmt::format("{}, {} ({})", label,
                              averaged ? "averaged predictions" : "last iterate alone", unit),
                  scale * share_of_errors(ends, rows));
    if (averaged) figure.beside(papers, papers_source, papers_decimals);
  }
}

Series mean_curve(const std::string& label, int colour, double scale, std::size_t rows,
                  const std::vector<ErrorCurve>& runs) {
  Series series = Series::line(label, colour);
  for (std::size_t i = 0; i < runs.at(0).examples.size(); ++i) {
    std::vector<double> shares;
    for (const ErrorCurve& run : runs) shares.push_back(i < run.error.size() ? run.error[i] : NAN);
    series.add(runs[0].examples[i], scale * share_of_errors(shares, rows));
  }
  return series;
}

}  // namespace windhover::reproduce
