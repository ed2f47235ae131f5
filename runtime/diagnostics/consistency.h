// Ornstein-Uhlenbeck consistency: whether the spread of the iterates agrees with the law that the
// estimates predict. All chains share their estimates, so they can agree with each other on a wrong
// spread; this is the one check that sees it.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_CONSISTENCY_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_CONSISTENCY_H_

#include <cstdint>
#include <limits>

#include "windhover/platform/arena.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/diagnostics/law_check.h"
#include "windhover/runtime/diagnostics/spread_directions.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

// Up to kLyapunovDimension the prediction solves the discrete Lyapunov equation, and the draws are
// compared with it in every direction. Above, follow() asks whether the law is the posterior
// (law_check.h), and the draws are compared with the posterior in each parameter's variance and in
// a few directions (spread_directions.h).
//
// One thread. Memory 9 D^2 doubles up to kLyapunovDimension, about 65 D above; none when not
// `checked`: with a diagonal C there is no law to predict, and every ratio is NaN.
class Consistency {
 public:
  static constexpr std::uint32_t kLyapunovDimension = 32;
  // The law, and the draws beyond what chance leaves open, may be off by this factor.
  static constexpr double kTolerance = LawCheck::kTolerance;
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kSpan = 32;  // relaxations

  // What follow() will be called for.
  struct Follows {
    bool draws = false;
    bool law = false;  // the sampler says its law; `has_state`: and keeps a state, like momentum
    bool has_state = false;
  };
  // `span`: in relaxations; deviations of one to two spans are compared.
  Consistency(Arena& arena, std::uint32_t dimension, bool checked, const Follows& follows,
              double span = kSpan) noexcept;
  // Times here count relaxations of a chain.
  void reset(double now) noexcept;

  // Adds one iterate's deviation from the centre, in units of the posterior of its own time, as
  // directions get more and less certain when rows come and go. `curvature`: the factor of A;
  // `covariance`: P. O(D^2) up to kLyapunovDimension, else O(D).
  void add(const double* theta, const double* centre, double n, const Factor& curvature,
           const double* covariance, double now) noexcept;
  // When the oldest deviation that still counts was added, so that what one event did to the chains
  // is forgotten: one to two spans ago. It is longer ago where these are too few for a ratio; less
  // long where they are more than 10,000, or n has grown by a factor of 1.5 to 2.25 since, as a
  // relaxation lasts long while rows are few.
  double since() const noexcept { return older_.since; }

  // Goes on with the check of the law, and with the search for the directions that draws are
  // compared in: call it eight times a relaxation. terms.sampler is null where no law is said.
  // Costs what LawCheck::advance() and SpreadDirections::follow() do; up to kLyapunovDimension
  // nothing, unless the sampler keeps a state.
  void follow(const LawTerms& terms, Interlude* interlude) noexcept;

  // Largest and smallest ratio of observed to predicted variance over directions. law(H, injected
  // covariance) fills in the law, or returns false: then P times the temperature is the prediction.
  // About 60 D^3 products up to kLyapunovDimension. Both are 0 until there are kLeast x D
  // deviations (kLeast x 10 above kLyapunovDimension), and follow() knows enough. Beside them the
  // same two of the law's variance over the posterior's: infinity where the sampler has no law
  // after all, as its steps are too long; NaN where they are not known.
  struct Ratio {
    double largest = 0;
    double smallest = 0;
    double law_largest = kUnknown;
    double law_smallest = kUnknown;
    // Whether the law, or the draws in every direction, were compared with the posterior.
    bool decided = false;
    // The worse of law_largest and law_smallest.
    double law() const noexcept {
      return law_largest * law_smallest >= 1 ? law_largest : law_smallest;
    }
  };
  // The ratio before enough is known.
  Ratio none() const noexcept {
    return checked_ ? Ratio{} : Ratio{kUnknown, kUnknown, kUnknown, kUnknown, false};
  }
  template <class Law>
  Ratio ratio(const double* curvature, const Factor& factor, const double* noise_covariance,
              const double* covariance, double minibatch_size, double n, double temperature,
              Law&& law) noexcept {
    if (!checked_ || !suffices()) return none();
    if (!dense()) return with_checked_law(variance_ratio(temperature));
    const bool predicted = law(dense_.preconditioner, dense_.noise);
    if (!predicted) {
      MatrixMap(dense_.covariance, dimension_, dimension_) =
          temperature * ConstMatrixMap(covariance, dimension_, dimension_);
    } else if (!ok(predict(curvature, noise_covariance, minibatch_size))) {
      return no_law();
    }
    const Ratio ratio = dense_ratio(factor, n, temperature);
    return predicted ? ratio : with_checked_law(ratio);
  }
  // Whether there are deviations enough for a ratio, and the law has been checked where it is to
  // be.
  bool suffices() const noexcept;
  // The bounds on the ratios of draws that spread as predicted: kTolerance, widened by what `ess`
  // effective draws leave open.
  struct Band {
    double narrow;
    double wide;
  };
  Band band(const Ratio& ratio, double ess) const noexcept;

  void visit_state(StateVisitor& visitor) noexcept {
    for (Part* part : {&newer_, &older_}) {
      visitor.values(part->weight, part->since, part->n, part->directed);
      visitor.visit(part->squares.data(), part->squares.size());
      if (checked_) visitor.visit(part->sum, size());
    }
    if (law_ != nullptr) law_->visit_state(visitor);
    if (directions_ != nullptr) directions_->visit_state(visitor);
  }

 private:
  static constexpr double kLeast = 20;
  static constexpr double kGrowth = 1.5;      // the growth of n that ends a part
  static constexpr double kMostPart = 10000;  // deviations

  // Deviations of a stretch of time. Two are kept; the older one goes when the newer one is full.
  struct Part {
    double* sum = nullptr;  // of outer products of the deviations; dense() or the diagonal
    double weight = 0;      // how many they are
    double since = 0;
    double n = 0;                         // n when the first one came
    SpreadDirections::Numbers squares{};  // sums of SpreadDirections::squares() ...
    double directed = 0;                  // ... over so many deviations
  };

  // The law's prediction while dense(), D x D each.
  struct Prediction {
    double* covariance = nullptr;
    double* preconditioner = nullptr;
    double* noise = nullptr;
    double* work = nullptr;  // four of them
  };

  double least() const noexcept { return kLeast * (dense() ? dimension_ : 10); }
  std::size_t size() const noexcept {
    return dense() ? std::size_t{dimension_} * dimension_ : dimension_;
  }
  void start_part(double now) noexcept;
  bool dense() const noexcept { return dimension_ <= kLyapunovDimension; }
  static Ratio no_law() noexcept {
    return {kUnknown, kUnknown, std::numeric_limits<double>::infinity(), 1, true};
  }
  Ratio variance_ratio(double temperature) const noexcept;
  Ratio with_checked_law(Ratio ratio) const noexcept;
  Status predict(const double* curvature, const double* noise_covariance,
                 double minibatch_size) noexcept;
  Ratio dense_ratio(const Factor& factor, double n, double temperature) noexcept;
  void extremes(const double* matrix, double& smallest, double& largest) noexcept;

  std::uint32_t dimension_;
  bool checked_;
  double span_;
  Part newer_;
  Part older_;
  LawCheck* law_ = nullptr;                 // null: not followed
  SpreadDirections* directions_ = nullptr;  // likewise
  double* deviation_ = nullptr;
  Prediction dense_;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_CONSISTENCY_H_
