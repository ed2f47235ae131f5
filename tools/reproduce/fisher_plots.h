// The pictures of Ahn, Korattikara and Welling 2012, Figures 1 and 2.
#ifndef WINDHOVER_TOOLS_REPRODUCE_FISHER_PLOTS_H_
#define WINDHOVER_TOOLS_REPRODUCE_FISHER_PLOTS_H_

#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/simulation.h"

namespace windhover::reproduce {

// Figure 1: the marginals of two parameters where the draws are nearest to the truth and farthest
// from it.
void add_marginals(const std::string& label, const RunMoments& ours, const RunMoments& truth,
                   int colour, Report& report);

// Figure 2: errors of mean (E1) and covariance (E2), early and late, over the mixing rate; one
// curve a method, whose points are added one after the other. A curve of one point has a large open
// mark. Methods without an error at the time are left out.
class ErrorCurves {
 public:
  // In gradients of one row.
  ErrorCurves(double early, double late);

  // `errors`: E1 early and late, E2 early and late.
  // `mark` names the point: what of the setting makes the curve.
  void add(const std::string& method, const std::string& mark, int colour, double mixing,
           const std::array<Estimate, 4>& errors);
  void add_to(Report& report) const;

 private:
  std::array<Panel, 4> panels_;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_FISHER_PLOTS_H_
