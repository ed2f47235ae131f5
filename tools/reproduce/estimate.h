#ifndef WINDHOVER_TOOLS_REPRODUCE_ESTIMATE_H_
#define WINDHOVER_TOOLS_REPRODUCE_ESTIMATE_H_

#include <cmath>

namespace windhover::reproduce {

// A number with its Monte Carlo standard error.
struct Estimate {
  double value = 0;
  double mcse = 0;
};
inline Estimate operator*(double scale, const Estimate& e) {
  return {scale * e.value, scale * e.mcse};
}
// Of independent ones.
inline Estimate operator-(const Estimate& a, const Estimate& b) {
  return {a.value - b.value, std::hypot(a.mcse, b.mcse)};
}

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_ESTIMATE_H_
