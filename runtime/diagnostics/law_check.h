// Whether the law that a sampler draws from is the posterior, in every direction. The check looks
// at the coefficients of the law's equation without solving it, by a few products with the matrices
// at a time.
//
// The sampler's law has the covariance X = R X R^T + Q, where R = I - H A and Q = H (C/S + E) H.
// The posterior's P = A^-1 / n (times the temperature) solves the same equation with G = P - R P
// R^T in place of Q. If a G <= Q <= b G as matrices then a P <= X <= b P: X is the sum of R^k Q
// R^kT over k, and P that of R^k G R^kT. The extreme eigenvalues of (Q, G) therefore bound the
// ratio of the law's variance to the posterior's over all directions. They are its extremes where
// H^-1, C and E are combinations of two matrices at most, as for all samplers that move by a full
// matrix, and where H A and H C commute.
//
// For vectors H w the forms Q and G need no inverse: H^-1 G H^-1 = (2 H^-1 - A) / n. With momentum
// beta the pair (theta, velocity) has such an equation, too; there both right-hand sides are one D
// x D block, four times, and G = (1 - beta) (2 H - H A H / (1 + beta)) / n.
//
// Where the bounds leave it open, the ratio in one direction w is found as a quotient of two sums
// over k, of the forms Q and G at (R^T)^k w. What the first sum leaves out lies between a and b
// times what is left of w^T P w, which gives an interval that is certain.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_LAW_CHECK_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_LAW_CHECK_H_

#include <array>
#include <cstdint>
#include <limits>

#include "windhover/platform/arena.h"
#include "windhover/samplers/linear_algebra/extreme_ratio.h"
#include "windhover/samplers/linear_algebra/interlude.h"
#include "windhover/samplers/registry.h"

namespace windhover {

// What the check looks at, valid for one call. D x D matrices have both triangles filled.
struct LawTerms {
  const AnySampler* sampler = nullptr;       // of an entry that has_law
  const double* curvature = nullptr;         // A
  const double* noise_covariance = nullptr;  // C
  const double* covariance = nullptr;        // P at temperature 1
  double minibatch_size = 0;
  double n = 0;
  double temperature = 1;
  std::uint64_t version = 0;  // another number whenever any of these has changed
};

// One thread. Memory 31 D.
class LawCheck {
 public:
  // A law farther than this from the posterior in some direction is not the posterior.
  static constexpr double kTolerance = 1.3;

  enum class Verdict : std::uint8_t {
    kOpen,     // not decided yet
    kWithin,   // within kTolerance in every direction
    kBeyond,   // beyond it in one direction at least
    kUnknown,  // the bounds are beyond kTolerance, but no direction was found in which the law is
    kNone,     // there is no law: steps are too long
  };

  LawCheck(Arena& arena, std::uint32_t dimension) noexcept;
  void reset() noexcept;

  // Goes on with the search: about kBudget products of two numbers, at least one step, until there
  // is a verdict; after that one step, which follows changes. A step is one product with each of A,
  // C and the sampler's own matrices, between which an interlude may run.
  void advance(const LawTerms& terms, Interlude* interlude) noexcept;

  // The last verdict found; changes since then are still being judged.
  Verdict verdict() const noexcept { return found_.verdict; }
  // The ratio of the law's variance to the posterior's. kWithin: bounds over all directions.
  // kBeyond: the farthest ratio that is certain in one direction on that side, or the bound if that
  // is within. kNone: infinity and 1. Otherwise NaN.
  double largest() const noexcept { return found_.largest; }
  double smallest() const noexcept { return found_.smallest; }
  // The directions in which the bounds are attained, or nearly: D numbers each, the largest first.
  std::array<const double*, 2> directions() const noexcept {
    return {largest_.direction(), smallest_.direction()};
  }

  void visit_state(StateVisitor& visitor) noexcept;

 private:
  static constexpr std::uint64_t kBudget = 1'000'000;
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

  // What the check found last, and for which LawTerms::version.
  struct Finding {
    Verdict verdict = Verdict::kOpen;
    double largest = kNaN;
    double smallest = kNaN;
    std::uint64_t version = 0;
  };
  // The ratio of the law to the posterior in one direction.
  struct Orbit {
    double* w = nullptr;     // the part that acts on theta
    RatioVector sum;         // that, and the part that acts on the velocity
    double numerator = 0;    // of Q, so far
    double denominator = 0;  // of G
    double total = 0;        // n w^T P w of the first w: the denominator's limit
    int steps = 0;
  };
  struct Interval {
    double low = 0;
    double high = 0;
    bool beyond() const noexcept { return low >= kTolerance || high <= 1 / kTolerance; }
  };

  void apply(const LawTerms& terms, const RatioVector& vector, Interlude* interlude) noexcept;
  bool search(const LawTerms& terms, Interlude* interlude) noexcept;
  bool bounds_suffice() const noexcept;
  void decide(Verdict verdict, double largest, double smallest) noexcept {
    found_ = {verdict, largest, smallest, version_};
  }
  void begin_orbit(const LawTerms& terms, const double* direction) noexcept;
  bool advance_orbit(const LawTerms& terms, Interlude* interlude) noexcept;
  Interval orbit_interval() const noexcept;
  void decide_by_orbits() noexcept;

  std::uint32_t dimension_;
  bool begun_ = false;
  std::uint64_t version_ = 0;
  bool turn_ = false;   // whether smallest_ made the last step of the search
  int orbit_side_ = 0;  // the orbit under way: 0: none, 1: of largest_, 2: of smallest_
  Finding found_;
  ExtremeRatio largest_;
  ExtremeRatio smallest_;
  Orbit orbit_;
  std::array<Interval, 2> intervals_;  // what the orbits found, largest first
  double* room_;                       // 2 D
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_LAW_CHECK_H_
