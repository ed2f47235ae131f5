#include "windhover/runtime/learning/row_gate.h"

#include <algorithm>
#include <array>

namespace windhover {

namespace {

// How far one row may move the mode: the squared distance, in posterior sd, a parameter. In a
// linear model of n rows a residual of sqrt(10 n) sd reaches it.
constexpr double kMoved = 10;
// The squared distance of y, in predictive sd, below which no row is impossible.
constexpr double kImpossible = 100;
// The information of one row over that of all before it, in its own direction: leverage 0.99. Real
// rows reach 7 (Wine). It also bounds the variance of a log mean or of log-odds, an sd of 10.
// Neither counts where the rows before have said little, and more than kKnown is left of the
// prior's variance.
constexpr double kInformation = 100;
constexpr double kKnown = 0.01;
// Squared distance in predictive scales, for Student's t: beyond it is one row in 136,000 at 4
// degrees of freedom. Such a row weighs next to nothing; many of them say that the scale is wrong.
constexpr double kSurprise = 900;

bool is_set_aside(const RowEffect& row, double dimension) noexcept {
  const double information = row.information;
  const double impossible = kImpossible * information / (1 + information);
  return row.moved > std::max(kMoved * dimension, impossible) || row.surprise > kSurprise ||
         (std::max(information, row.doubt) > kInformation && row.known < kKnown);
}

}  // namespace

RowBatch RowGate::admit(Model& model, const RowBatch& fresh, std::span<std::uint32_t> slots,
                        const Estimator& estimator) noexcept {
  constexpr std::size_t kAtATime = 128;
  std::array<RowEffect, kAtATime> effects;
  const auto dimension = static_cast<double>(estimator.done().dimension());
  const LaplaceApproximation& laplace = estimator.laplace();
  const RowJudge judge{laplace.mode(),
                       laplace.covariance(),
                       estimator.prior().values(),
                       estimator.dispersion().divisor(),
                       kMoved * dimension,
                       kInformation,
                       kSurprise};
  model.set_dispersion(estimator.dispersion().value());
  std::size_t kept = 0;
  for (std::size_t first = 0; first < fresh.count; first += kAtATime) {
    const RowBatch some = fresh.part(first, std::min(kAtATime, fresh.count - first));
    if (!model.row_effects(some, judge, effects.data())) return fresh;
    for (std::size_t i = 0; i < some.count; ++i) {
      if (is_set_aside(effects[i], dimension)) {
        disputed_ += 1;
        set_aside_ += 1;
      } else {
        disputed_ = std::max(disputed_ - 1, 0.0);
        slots[kept++] = some.slots[i];
      }
    }
  }
  return {fresh.base, slots.data(), kept};
}

}  // namespace windhover
