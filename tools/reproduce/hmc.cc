#include "windhover/tools/reproduce/hmc.h"

#include <Eigen/Cholesky>
#include <numeric>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/reference/effective_draws.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

LogPosterior::LogPosterior(const Problem& problem)
    : logistic_(problem.model.name == "logistic"),
      inverse_variance_(logistic_ ? 1.0 : 1.0 / problem.model.noise_variance),
      x_(design_matrix(problem)),
      y_(Eigen::Map<const VectorXd>(problem.data.targets.data(), x_.rows())),
      prior_(problem.prior_precision()),
      predictor_(x_.rows()),
      residual_(x_.rows()) {}

double LogPosterior::operator()(const VectorXd& theta, VectorXd& gradient) {
  predictor_.noalias() = x_ * theta;
  double loss = 0.5 * theta.dot(prior_.cwiseProduct(theta));
  if (logistic_) {
    const auto eta = predictor_.array();
    const Eigen::ArrayXd e = (-eta.abs()).exp();  // no overflow
    // log(1 + e^eta) - y eta, and the sigmoid from the same exponential.
    loss += (eta.max(0.0) + e.log1p() - y_.array() * eta).sum();
    residual_ = ((eta >= 0).select(1.0 / (1.0 + e), e / (1.0 + e)) - y_.array()).matrix();
  } else {
    residual_ = (predictor_ - y_) * inverse_variance_;
    loss += 0.5 * (predictor_ - y_).dot(residual_);
  }
  gradient.noalias() = -(x_.transpose() * residual_);
  gradient -= prior_.cwiseProduct(theta);
  return -loss;
}

reference::LogDensity LogPosterior::density() {
  return [this, theta = VectorXd(prior_.size()), g = VectorXd(prior_.size())](
             const std::vector<double>& at, std::vector<double>& gradient) mutable {
    theta = Eigen::Map<const VectorXd>(at.data(), theta.size());
    const double value = (*this)(theta, g);
    std::copy_n(g.data(), g.size(), gradient.begin());
    return value;
  };
}

namespace {

ordered_json hmc_truth(const Problem& problem, std::size_t draws, std::uint64_t seed,
                       std::uint16_t chain) {
  const double begin = thread_seconds();
  LogPosterior posterior(problem);
  const Index d = problem.dimension();
  const MatrixXd root = problem.posterior.covariance.llt().matrixL();
  VectorXd theta(d), gradient(d);
  const auto whitened = [&](const std::vector<double>& z, std::vector<double>& g) {
    theta = problem.posterior.mode +
            root.triangularView<Eigen::Lower>() * Eigen::Map<const VectorXd>(z.data(), d);
    const double value = posterior(theta, gradient);
    Eigen::Map<VectorXd>(g.data(), d).noalias() =
        root.transpose().triangularView<Eigen::Upper>() * gradient;
    return value;
  };
  const reference::Run run = reference::hamiltonian_monte_carlo(
      whitened, std::vector<double>(static_cast<std::size_t>(d), 0.0),
      {.warm_up = 300, .draws = draws, .seed = seed, .chain = chain});

  VectorXd mean = VectorXd::Zero(d), corrected_mean = VectorXd::Zero(d);
  MatrixXd second = MatrixXd::Zero(d, d), cross = MatrixXd::Zero(d, d);
  std::vector<double> g(static_cast<std::size_t>(d));
  for (const std::vector<double>& draw : run.draws) {
    const Eigen::Map<const VectorXd> z(draw.data(), d);
    whitened(draw, g);
    // g is the gradient of the log density: minus that of the potential.
    const VectorXd rest = z + Eigen::Map<const VectorXd>(g.data(), d);
    mean += z;
    corrected_mean += rest;
    second.noalias() += z * z.transpose();
    cross.noalias() += z * rest.transpose();
  }
  const auto n = static_cast<double>(run.draws.size());
  mean /= n;
  corrected_mean /= n;
  second /= n;
  cross /= n;
  const auto in_theta = [&](const VectorXd& m, const MatrixXd& moment) -> ordered_json {
    const MatrixXd covariance = moment - m * m.transpose();
    return {{"count", n},
            {"mean", to_json(MatrixXd(problem.posterior.mode + root * m))},
            {"covariance", to_json(MatrixXd(root * covariance * root.transpose()))}};
  };
  const MatrixXd corrected = MatrixXd::Identity(d, d) + 0.5 * (cross + cross.transpose());
  return {{"plain", in_theta(mean, second)},
          {"corrected", in_theta(corrected_mean, corrected)},
          {"divergences", run.divergences},
          {"seconds", thread_seconds() - begin}};
}

Truth truth_from(const ordered_json& json) {
  return {moments_from(json.at("plain")), moments_from(json.at("corrected")),
          json.at("divergences").get<double>(), json.value("seconds", 0.0)};
}

}  // namespace

std::vector<Truth> hmc_truths(const Context& context, const Problem& problem,
                              const std::string& key, std::size_t chains, std::size_t draws,
                              const Stage& stage) {
  std::vector<PartJob> jobs;
  for (std::uint16_t chain = 0; chain < chains; ++chain) {
    jobs.push_back({fmt::format("{}-{}", key, chain), fmt::format("{} draws", draws),
                    [&, chain] { return hmc_truth(problem, draws, context.seed(), chain); }});
  }
  std::vector<Truth> truths;
  for (const ordered_json& run : context.run_parts(jobs, stage)) truths.push_back(truth_from(run));
  return truths;
}

LogisticDensity::LogisticDensity(const Dataset& data)
    : layout_({.features = static_cast<std::uint32_t>(data.columns())}),
      rows_(data.rows() * layout_.stride()),
      slots_(data.rows()),
      sign_(data.rows()),
      coefficients_(layout_.stride()),
      sum_(layout_.stride()),
      predictors_(kChunk),
      targets_(kChunk),
      probabilities_(kChunk) {
  std::iota(slots_.begin(), slots_.end(), 0U);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    std::copy_n(data.row(i), data.columns(), rows_.data() + i * layout_.stride());
    sign_[i] = data.targets[i] > 0 ? 1.0 : -1.0;
  }
}

double LogisticDensity::operator()(const std::vector<double>& theta,
                                   std::vector<double>& gradient) {
  std::ranges::copy(theta, coefficients_.begin());
  std::ranges::fill(sum_, 0.0);
  double value = 0;
  for (std::size_t first = 0; first < slots_.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, slots_.size() - first);
    const double* sign = sign_.data() + first;
    kernels().gather_dot(rows_.data(), layout_.stride(), slots_.data() + first, count,
                         slots_.size() - first - count, coefficients_.data(), 0.0,
                         layout_.target_index(), predictors_.data(), targets_.data());
    for (std::size_t i = 0; i < count; ++i) predictors_[i] *= sign[i];
    kernels().sigmoid(predictors_.data(), count, probabilities_.data());
    for (std::size_t start = 0; start < count; start += 16) {
      double product = 1;
      for (std::size_t i = start; i < std::min(start + 16, count); ++i) {
        // The product of 16 does not underflow with this bound. NUTS does not come where the
        // density is exp(-700).
        product *= std::max(probabilities_[i], 1e-19);
      }
      value += std::log(product);
    }
    for (std::size_t i = 0; i < count; ++i) predictors_[i] = sign[i] * (1 - probabilities_[i]);
    kernels().gather_axpy(rows_.data(), layout_.stride(), slots_.data() + first, count,
                          predictors_.data(), sum_.data());
  }
  for (std::size_t j = 0; j < theta.size(); ++j) {
    value -= 0.5 * theta[j] * theta[j];
    gradient[j] = sum_[j] - theta[j];
  }
  return value;
}

double Summary::least_effective() const { return *std::ranges::min_element(bulk); }

std::vector<std::vector<double>> column(const Draws& chains, std::size_t parameter) {
  std::vector<std::vector<double>> values;
  for (const auto& chain : chains) {
    values.emplace_back();
    for (const auto& draw : chain) values.back().push_back(draw[parameter]);
  }
  return values;
}

Summary summarize(const Draws& chains) {
  Summary summary;
  const std::size_t dimension = chains.front().front().size();
  for (std::size_t j = 0; j < dimension; ++j) {
    const std::vector<std::vector<double>> values = column(chains, j);
    double count = 0;
    double sum = 0;
    for (const auto& chain : values) {
      sum += std::accumulate(chain.begin(), chain.end(), 0.0);
      count += static_cast<double>(chain.size());
    }
    const double mean = sum / count;
    double squares = 0;
    for (const auto& chain : values) {
      for (const double x : chain) squares += (x - mean) * (x - mean);
    }
    summary.mean.push_back(mean);
    summary.sd.push_back(std::sqrt(squares / (count - 1)));
    summary.bulk.push_back(reference::bulk_effective_draws(values));
  }
  return summary;
}

std::vector<double> spread_errors(const Draws& chains, const Summary& summary) {
  std::vector<double> errors;
  for (std::size_t j = 0; j < summary.mean.size(); ++j) {
    std::vector<std::vector<double>> squares = column(chains, j);
    double count = 0;
    double second = 0;
    double fourth = 0;
    for (auto& chain : squares) {
      for (double& x : chain) {
        x = (x - summary.mean[j]) * (x - summary.mean[j]);
        second += x;
        fourth += x * x;
      }
      count += static_cast<double>(chain.size());
    }
    const double variance = second / count;
    const double effective = reference::bulk_effective_draws(squares);
    errors.push_back(std::sqrt((fourth / count - variance * variance) / effective) /
                     (2 * variance));
  }
  return errors;
}

}  // namespace windhover::reproduce
