#include "windhover/samplers/row_blocks/row_likelihood.h"

#include "windhover/samplers/registry.h"

namespace windhover {

RowLikelihood::RowLikelihood(const ModelConfig& model) noexcept
    : response_(find_model(model.name)->response),
      weighs_(model.weight || response_ != Response::kBernoulli),
      nu_(model.degrees_of_freedom) {}

double RowLikelihood::most_residual() const noexcept {
  return has_dispersion(response_) ? 10 * kMostTarget : 1;
}

}  // namespace windhover
