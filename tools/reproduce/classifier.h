// Class probabilities of the library's networks for the rows of a data set, and the errors of
// averaged ones.
#ifndef WINDHOVER_TOOLS_REPRODUCE_CLASSIFIER_H_
#define WINDHOVER_TOOLS_REPRODUCE_CLASSIFIER_H_

#include <Eigen/Core>
#include <vector>

#include "windhover/samplers/models/network.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/placed.h"

namespace windhover::reproduce {

// Rows before a model "mlp-softmax" or "drbm". One thread. `data` outlives it.
class Classifier {
 public:
  Classifier(const ModelConfig& config, const Dataset& data);

  // Classes by rows.
  Eigen::MatrixXf probabilities(const std::vector<double>& theta);
  // The share of rows whose most probable class is not theirs.
  double error(const Eigen::MatrixXf& probabilities) const;
  double error(const std::vector<double>& theta) { return error(probabilities(theta)); }

 private:
  const Dataset& data_;
  NetworkShape shape_;
  Placed<NetworkBatch> batch_;
  std::vector<double> values_;
};

// The error of probabilities averaged over the iterates looked at so far, without the first half of
// them: no burn-in has to be chosen.
class AveragedError {
 public:
  explicit AveragedError(Classifier& classifier) : classifier_(classifier) {}
  // Looks at another iterate.
  void look(const std::vector<double>& theta);
  double error() const;
  // Of the last iterate alone.
  double error_alone() const { return classifier_.error(looked_.back()); }

 private:
  Classifier& classifier_;
  std::vector<Eigen::MatrixXf> looked_;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_CLASSIFIER_H_
