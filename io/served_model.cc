#include "windhover/io/served_model.h"

namespace windhover {

ModelKind model_kind(std::string_view model) noexcept {
  if (model == "linear") return ModelKind::kLinear;
  if (model == "logistic") return ModelKind::kLogistic;
  if (model == "binomial") return ModelKind::kBinomial;
  if (model == "poisson") return ModelKind::kPoisson;
  if (model == "negative-binomial") return ModelKind::kNegativeBinomial;
  if (model == "zero-inflated-poisson") return ModelKind::kZeroInflatedPoisson;
  if (model == "heteroscedastic") return ModelKind::kHeteroscedastic;
  if (model == "log-normal") return ModelKind::kLogNormal;
  if (model == "student-t") return ModelKind::kStudentT;
  if (model == "softmax") return ModelKind::kSoftmax;
  if (model == "mlp-linear") return ModelKind::kLinear;
  if (model == "mlp-logistic") return ModelKind::kLogistic;
  if (model == "mlp-softmax" || model == "drbm") return ModelKind::kSoftmax;
  return ModelKind::kOther;
}

}  // namespace windhover
