#include "windhover/samplers/row_blocks/past_memory.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>

namespace windhover {

namespace {

constexpr double kShorter = 5;  // how many times shorter each memory is than the one before
constexpr int kNewtonSteps = 4;

// exp(-a), approximated from above: the error is below 0.063, and next to nothing where a is small.
float keep_of(float a) noexcept {
  const float root = 1 / (1 + 0.25F * a);
  const float square = root * root;
  return square * square;
}

double sigmoid(double eta) noexcept { return 1 / (1 + std::exp(-eta)); }

// The log probability of y where the linear predictor has this mean and variance (MacKay 1992).
double score_of(double eta, double variance, double target) noexcept {
  const double at = eta / std::sqrt(1 + std::numbers::pi / 8 * variance);
  const double against = target > 0.5 ? -at : at;
  return -(std::max(against, 0.0) + std::log1p(std::exp(-std::abs(against))));
}

// Solves u = y - sigmoid(eta + variance u): the row moves the centre of eta by variance u.
double implicit_residual(double eta, double variance, double target) noexcept {
  const double most = target - sigmoid(eta);
  double u = 0;
  for (int step = 0; step < kNewtonSteps; ++step) {
    const double p = sigmoid(eta + variance * u);
    u -= (u - target + p) / (1 + variance * p * (1 - p));
    u = std::clamp(u, std::min(most, 0.0), std::max(most, 0.0));
  }
  return u;
}

}  // namespace

PastMemory::PastMemory(Arena& arena, std::uint32_t columns) noexcept
    : count_(columns), columns_(arena.allocate<Column>(columns).data()) {}

void PastMemory::reset(double rows) noexcept {
  std::uninitialized_fill_n(columns_, count_, Column{{}, {}, 0});
  for (double& of_memory : rows_) {
    of_memory = rows;
    rows /= kShorter;
  }
  evidence_ = {};
  taken_ = 0;
  chosen_ = 0;
}

bool PastMemory::take(const RowColumns& row, double precision,
                      double intercept_precision) noexcept {
  ++taken_;
  precision_ = static_cast<float>(precision);
  intercept_precision_ = static_cast<float>(intercept_precision);
  predict(row);
  const bool changed = compare(row.target);
  learn(row);
  return changed;
}

void PastMemory::predict(const RowColumns& row) noexcept {
  OfEach<float> per_row;
  for (std::size_t i = 0; i < kCount; ++i) per_row[i] = static_cast<float>(1 / rows_[i]);
  OfEach<float> eta{};
  OfEach<float> variance{};
  for (std::size_t k = 0; k < row.count; ++k) {
    Column& column = columns_[row.column(k)];
    const auto gone = static_cast<float>(taken_ - column.as_of);
    const auto x = static_cast<float>(row.value(k));
    const float prior = prior_of(row, k);
    column.as_of = taken_;
    for (std::size_t i = 0; i < kCount; ++i) {
      column.precision[i] *= keep_of(gone * per_row[i]);
      eta[i] += x * column.centre[i];
      variance[i] += x * x / (prior + column.precision[i]);
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    eta_[i] = row.offset + double{eta[i]};
    variance_[i] = double{variance[i]};
  }
}

bool PastMemory::compare(double target) noexcept {
  OfEach<double> score;
  for (std::size_t i = 0; i < kCount; ++i) score[i] = score_of(eta_[i], variance_[i], target);
  std::uint32_t best = chosen_;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    evidence_[i] = std::max(0.0, evidence_[i] + score[i] - score[chosen_]);
    if (evidence_[i] > std::max(kEvidence, evidence_[best])) best = i;
  }
  if (best == chosen_) return false;
  chosen_ = best;
  evidence_ = {};
  return true;
}

void PastMemory::learn(const RowColumns& row) noexcept {
  OfEach<float> residual;
  OfEach<float> curvature;
  OfEach<float> variance;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double u = implicit_residual(eta_[i], variance_[i], row.target);
    const double p = sigmoid(eta_[i] + variance_[i] * u);
    residual[i] = static_cast<float>(u);
    curvature[i] = static_cast<float>(p * (1 - p));
    variance[i] = static_cast<float>(variance_[i]);
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    Column& column = columns_[row.column(k)];
    const auto x = static_cast<float>(row.value(k));
    const float prior = prior_of(row, k);
    for (std::size_t i = 0; i < kCount; ++i) {
      const float along = x / (prior + column.precision[i]);
      const float others = std::max(0.0F, variance[i] - x * along);
      column.centre[i] += residual[i] * along;
      column.precision[i] += curvature[i] * x * x / (1 + curvature[i] * others);
    }
  }
}

void PastMemory::visit_state(StateVisitor& visitor) noexcept {
  static_assert(sizeof(Column) == 4 * sizeof(std::uint64_t));
  visitor.section("past memory");
  visitor.values(taken_, chosen_);
  for (std::size_t i = 0; i < kCount; ++i) visitor.values(rows_[i], evidence_[i]);
  visitor.visit(std::span(reinterpret_cast<std::uint64_t*>(columns_), std::size_t{4} * count_));
}

}  // namespace windhover
