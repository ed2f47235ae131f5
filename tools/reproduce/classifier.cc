#include "windhover/tools/reproduce/classifier.h"

#include <algorithm>

namespace windhover::reproduce {

using Eigen::Index;

Classifier::Classifier(const ModelConfig& config, const Dataset& data)
    : data_(data),
      shape_(config, Response::kCategorical),
      batch_(shape_),
      values_(shape_.values()) {}

Eigen::MatrixXf Classifier::probabilities(const std::vector<double>& theta) {
  const std::size_t outputs = shape_.outputs();
  Eigen::MatrixXf all(static_cast<Index>(outputs) + 1, static_cast<Index>(data_.rows()));
  Eigen::VectorXd eta = Eigen::VectorXd::Zero(all.rows());  // of class 0: 0
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

}  // namespace windhover::reproduce
