#include "windhover/tools/reproduce/moments_json.h"

#include <algorithm>
#include <cmath>

namespace windhover::reproduce {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::ordered_json;

ordered_json to_json(const MatrixXd& matrix) {
  return {{"rows", matrix.rows()},
          {"values", std::vector<double>(matrix.data(), matrix.data() + matrix.size())}};
}

MatrixXd matrix_from(const ordered_json& json) {
  const auto values = json.at("values").get<std::vector<double>>();
  const auto rows = json.at("rows").get<Index>();
  return Eigen::Map<const MatrixXd>(values.data(), rows,
                                    static_cast<Index>(values.size()) / std::max<Index>(rows, 1));
}

ordered_json to_json(const Moments& moments) {
  return {{"count", moments.count()},
          {"mean", to_json(MatrixXd(moments.mean()))},
          {"covariance", to_json(moments.covariance())}};
}

RunMoments moments_from(const ordered_json& json) {
  return {json.at("count").get<double>(), matrix_from(json.at("mean")),
          matrix_from(json.at("covariance"))};
}

std::vector<RunMoments> moments_of_runs(const std::vector<ordered_json>& runs) {
  std::vector<RunMoments> moments;
  for (const ordered_json& run : runs) moments.push_back(moments_from(run));
  return moments;
}

RunMoments pooled(const std::vector<RunMoments>& runs) {
  RunMoments all{0, VectorXd::Zero(runs[0].mean.size()), MatrixXd(runs[0].covariance * 0)};
  for (const RunMoments& run : runs) {
    all.count += run.count;
    all.mean += run.count * run.mean;
  }
  all.mean /= all.count;
  for (const RunMoments& run : runs) {
    const VectorXd off = run.mean - all.mean;
    all.covariance += run.count / all.count * (run.covariance + off * off.transpose());
  }
  return all;
}

// The jackknife's variance is (n - 1)^2 times that of the mean of independent figures.
Estimate Jackknife::estimate() const {
  return {all, (static_cast<double>(without.size()) - 1) * mean_of(without).mcse};
}

Estimate Jackknife::minus(const Jackknife& other) const {
  Jackknife difference{all - other.all, without};
  for (std::size_t r = 0; r < without.size(); ++r) difference.without[r] -= other.without[r];
  return difference.estimate();
}

Estimate jackknife(const std::vector<RunMoments>& runs,
                   const std::function<double(const RunMoments&)>& value) {
  Jackknife figure{value(pooled(runs)), {}};
  for (std::size_t left_out = 0; left_out < runs.size(); ++left_out) {
    std::vector<RunMoments> others = runs;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    figure.without.push_back(value(pooled(others)));
  }
  return figure.estimate();
}

Estimate mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double v : values) sum += v;
  double squares = 0;
  for (const double v : values) squares += (v - sum / n) * (v - sum / n);
  return {sum / n, std::sqrt(squares / (n - 1) / n)};
}

Estimate mean_over_seeds(const std::vector<double>& values) {
  return values.size() < 2 ? Estimate{values.at(0), 0} : mean_of(values);
}

}  // namespace windhover::reproduce
