#include "windhover/samplers/row_blocks/row_noise.h"

#include "windhover/samplers/row_blocks/chain_positions.h"

namespace windhover {

RowNoise::RowNoise(const ModelConfig& model, std::uint32_t chains) noexcept
    : likelihood_(model), given_(model.noise_variance), chains_(chains) {}

void RowNoise::set_units(const TargetTransform& units) noexcept {
  likelihood_.set_units(units);
  const bool has = has_dispersion(likelihood_.response());
  dispersion_.reset(has ? given_ / (units.scale * units.scale) : 1, likelihood_.information());
  likelihood_.set_dispersion(dispersion_.value());
}

void RowNoise::keep(const RowColumns& row, const float* residuals, int sign) noexcept {
  if (!dispersion_.learned() || !is_normal(likelihood_.response())) return;
  dispersion_.keep(sign * (row.weight * squares_of(residuals)));
}

void RowNoise::look(const RowColumns& row, double length, const StepBlock& block,
                    std::uint64_t rows) noexcept {
  const StepBlock& b = block;
  const auto count = static_cast<double>(rows);
  if (!is_normal(likelihood_.response())) {
    double squares = 0;
    for (std::uint32_t c = 0; c < chains_; ++c) {
      squares += likelihood_.square(b.eta[c], row.target, b.after[c]);
    }
    return dispersion_.look(length, squares, count, chains_);
  }
  dispersion_.look_again(row.weight, length, squares_of(b.before), squares_of(b.after), count,
                         chains_);
  if (chains_ == 1) return;
  dispersion_.add_variance(length, double{variance_of({b.after, chains_})});
}

void RowNoise::end(std::uint64_t rows, double weight, double informed) noexcept {
  dispersion_.end(rows, weight, chains_, informed);
  likelihood_.set_dispersion(dispersion_.value());
}

// One function for all callers, because a row must take out to the bit what it has added.
double RowNoise::squares_of(const float* residuals) const noexcept {
  double squares = 0;
  for (std::uint32_t c = 0; c < chains_; ++c) squares += double{residuals[c]} * residuals[c];
  return squares;
}

void RowNoise::visit_state(StateVisitor& visitor) noexcept {
  if (likelihood_.response() == Response::kBernoulli) return;
  TargetTransform units = likelihood_.units();
  visitor.values(units.shift, units.scale);
  likelihood_.set_units(units);
  dispersion_.visit_state(visitor);
  likelihood_.set_dispersion(dispersion_.value());
}

}  // namespace windhover
