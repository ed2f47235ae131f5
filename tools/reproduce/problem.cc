#include "windhover/tools/reproduce/problem.h"

#include <Eigen/Cholesky>

#include "windhover/samplers/registry.h"
#include "windhover/tools/reproduce/data_sets.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {
namespace {

struct Source {
  const char* name;
  const char* file;
  const char* model;
  DatasetOptions options;
  std::uint32_t minibatch_size;
  std::optional<double> least_positive = {};  // the target is 1 from this value on
};

Source source_of(const std::string& name) {
  if (name == "wine") {
    return {"Wine",
            "winequality-white.csv",
            "linear",
            {.table = {.separator = ';'}, .target = "quality"},
            100};
  }
  if (name == "wine-logistic") {
    Source source = source_of("wine");
    source.name = "Wine, good or not";
    source.model = "logistic";
    source.least_positive = 7;
    return source;
  }
  if (name == "protein") return {"Protein", "CASP.csv", "linear", {.target = "RMSD"}, 100};
  return {"Skin",
          "Skin_NonSkin.txt",
          "logistic",
          {.table = {.separator = '\t', .header = false}, .target = "4", .positive = "1"},
          10'000};
}

void transform(Dataset& data, Scaling scaling) {
  if (scaling == Scaling::kStandardized) return standardize(data, data);
  const std::vector<double> largest = largest_of(data.features, data.columns());
  for (std::size_t i = 0; i < data.features.size(); ++i) {
    data.features[i] /= largest[i % data.columns()];
  }
}

ReferenceModel reference_model(const ModelConfig& model) {
  ReferenceModel reference{.logistic = model.name == "logistic",
                           .intercept = model.intercept,
                           .prior_precision = model.prior_precision,
                           .intercept_precision = model.intercept_precision};
  if (!reference.logistic) reference.noise_variance = model.noise_variance;
  return reference;
}

// The residual variance of least squares.
double residual_variance(const Problem& problem) {
  const MatrixXd x = design_matrix(problem);
  const Eigen::Map<const VectorXd> y(problem.data.targets.data(), x.rows());
  const VectorXd theta = (x.transpose() * x).ldlt().solve(x.transpose() * y);
  const auto freedom = static_cast<double>(x.rows() - problem.model.features);
  return (y - x * theta).squaredNorm() / freedom;
}

}  // namespace

const char* to_string(Scaling scaling) {
  return scaling == Scaling::kStandardized ? "standardised" : "unit maximum";
}

MatrixXd design_matrix(const Problem& problem) {
  const auto n = static_cast<Index>(problem.data.rows());
  const auto f = static_cast<Index>(problem.data.columns());
  MatrixXd x(n, f + (problem.model.intercept ? 1 : 0));
  x.leftCols(f) = Eigen::Map<const RowMatrix>(problem.data.features.data(), n, f);
  if (problem.model.intercept) x.col(f).setOnes();
  return x;
}

VectorXd Problem::prior_precision() const {
  VectorXd precision(model.dimension());
  find_model(model.name)->prior_precision(model, precision.data());
  return precision;
}

Problem regression(std::string name, std::uint32_t features, std::uint32_t minibatch_size) {
  return {.name = std::move(name),
          .model = {.name = "linear",
                    .features = features,
                    .intercept = false,
                    .prior_precision = 1,
                    .noise_variance = 1},
          .data = {},
          .minibatch_size = minibatch_size};
}

void find_posterior(Problem& problem) {
  const std::vector<double> shift(problem.data.columns(), 0.0);
  const std::vector<double> scale(problem.data.columns(), 1.0);
  problem.posterior = exact_posterior(problem.data, reference_model(problem.model), shift, scale);
}

Problem load_problem(const Context& context, const std::string& name, Scaling scaling) {
  const Source source = source_of(name);
  Problem problem{.name = source.name,
                  .model = {.name = source.model},
                  .data = load_dataset(context.file(source.file), source.options),
                  .minibatch_size = source.minibatch_size};
  if (source.least_positive) {
    for (double& y : problem.data.targets) y = y >= *source.least_positive ? 1.0 : 0.0;
  }
  transform(problem.data, scaling);
  problem.model.features = static_cast<std::uint32_t>(problem.data.columns());
  problem.model.intercept = scaling == Scaling::kStandardized;
  problem.model.prior_precision = 1;
  problem.model.intercept_precision = 1;
  if (problem.model.name == "linear") {
    problem.model.noise_variance = problem.model.intercept ? residual_variance(problem) : 1.0;
  }
  find_posterior(problem);
  return problem;
}

}  // namespace windhover::reproduce
