#include "windhover/tools/reproduce/logistic_nuts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/reference/effective_draws.h"

namespace windhover::reproduce {

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
        // Of 16 none that underflows: NUTS does not come where the density is exp(-700).
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

namespace {

// Of one parameter, by chain and draw.
std::vector<std::vector<double>> column(const Draws& chains, std::size_t parameter) {
  std::vector<std::vector<double>> values;
  for (const auto& chain : chains) {
    values.emplace_back();
    for (const auto& draw : chain) values.back().push_back(draw[parameter]);
  }
  return values;
}

}  // namespace

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
