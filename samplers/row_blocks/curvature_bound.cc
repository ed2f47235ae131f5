#include "windhover/samplers/row_blocks/curvature_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <span>

namespace windhover {

namespace {

// An estimate agrees with those before where it is at most this share of itself above them, and the
// law ratio at most this much: rows that come and go move rho by a tenth.
constexpr double kAgreement = 0.25;
constexpr double kLawAgreement = 0.05;

double law_ratio_at(double rho) noexcept { return 1 / (1 - 0.5 * rho); }

}  // namespace

CurvatureBound::CurvatureBound(Arena& arena, std::uint32_t columns, std::size_t compared) noexcept
    : columns_(columns), compared_(compared), entries_(arena.allocate<Entry>(columns).data()) {}

void CurvatureBound::reset() noexcept {
  std::uninitialized_fill_n(entries_, columns_, Entry{1, 1, 0});
  scale_ = length_ = 1;
  newest_.fill(0);
  squares_ = product_squares_ = 0;
  agreed_ = false;
  rows_ = 0;
  iteration_ = 1;
}

// The column's entry at the start of this iteration. The vector is the last iteration's product,
// scaled to length 1; a column that had no row in that iteration begins anew.
CurvatureBound::Entry CurvatureBound::begun(const Entry& before, double step,
                                            double precision) const noexcept {
  const bool known = iteration_ > 1 && before.iteration + 1 == iteration_;
  const double vector = known ? before.product / length_ : std::sqrt(step);
  return {static_cast<float>(vector), static_cast<float>(precision * step * vector), iteration_};
}

void CurvatureBound::add(const RowColumns& row, double curvature, const float* steps,
                         const float* precisions, std::uint64_t rows) noexcept {
  double squares = 0;
  double product_squares = 0;
  double along = 0;
  for (std::size_t k = 0; k < row.count; ++k) {
    Entry& entry = entries_[row.column(k)];
    if (entry.iteration != iteration_) {
      entry = begun(entry, double{steps[k]}, double{precisions[k]});
      squares += double{entry.vector} * entry.vector;
      product_squares += double{entry.product} * entry.product;
    }
    along += std::sqrt(double{steps[k]}) * row.value(k) * entry.vector;
  }
  for (std::size_t k = 0; k < row.count; ++k) {
    Entry& entry = entries_[row.column(k)];
    const double more = curvature * along * std::sqrt(double{steps[k]}) * row.value(k);
    product_squares += more * (2.0 * entry.product + more);
    entry.product += static_cast<float>(more);
  }
  squares_ += squares;
  product_squares_ += product_squares;
  if (++rows_ >= rows) end_iteration();
}

void CurvatureBound::end_iteration() noexcept {
  const double length = std::sqrt(std::max(product_squares_, 0.0));
  if (squares_ > 0 && length > 0 && std::isfinite(length)) {
    const double before = largest();
    const double rho = length / std::sqrt(squares_);
    std::rotate(newest_.begin(), newest_.begin() + 1, newest_.end());
    newest_.back() = rho;
    scale_ = std::min(1.0, kMost / largest());
    agreed_ = rho - before <= kAgreement * rho &&
              law_ratio_at(rho * scale_) - law_ratio_at(before * scale_) <= kLawAgreement;
    length_ = length;
  }
  squares_ = product_squares_ = 0;
  rows_ = 0;
  ++iteration_;
}

double CurvatureBound::largest() const noexcept {
  return std::ranges::max(std::span(newest_).last(compared_));
}

double CurvatureBound::law_ratio() const noexcept {
  if (!agreed_) return std::numeric_limits<double>::quiet_NaN();
  return law_ratio_at(largest() * scale_);
}

void CurvatureBound::visit_state(StateVisitor& visitor) noexcept {
  static_assert(sizeof(Entry) == 3 * sizeof(std::uint32_t));
  visitor.section("curvature bound", 2);
  visitor.visit(newest_);
  visitor.values(scale_, agreed_, length_, squares_, product_squares_, rows_, iteration_);
  visitor.visit({reinterpret_cast<std::uint32_t*>(entries_), std::size_t{3} * columns_});
}

}  // namespace windhover
