#include "windhover/tools/reproduce/fisher_plots.h"

#include <utility>

#include "windhover/tools/fit/reference.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {
namespace {

Eigen::Matrix2d pair_of(const MatrixXd& c, Index i, Index j) {
  Eigen::Matrix2d out;
  out << c(i, i), c(i, j), c(j, i), c(j, j);
  return out;
}

}  // namespace

void add_marginals(const std::string& label, const RunMoments& ours, const RunMoments& truth,
                   int colour, Report& report) {
  std::array<std::pair<Index, Index>, 2> chosen;
  std::array<double, 2> extreme = {INFINITY, -INFINITY};
  const auto mean_of_pair = [](const VectorXd& m, Index i, Index j) {
    return Eigen::Vector2d(m[i], m[j]);
  };
  for (Index i = 0; i < ours.mean.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const double kl =
          gaussian_kl(mean_of_pair(ours.mean, i, j), pair_of(ours.covariance, i, j),
                      mean_of_pair(truth.mean, i, j), pair_of(truth.covariance, i, j));
      if (kl < extreme[0]) extreme[0] = kl, chosen[0] = {i, j};
      if (kl > extreme[1]) extreme[1] = kl, chosen[1] = {i, j};
    }
  }
  for (std::size_t k = 0; k < 2; ++k) {
    const auto [i, j] = chosen[k];
    Panel panel =
        Panel{fmt::format("{}: marginal of {} difference", label, k == 0 ? "smallest" : "largest"),
              fmt::format("θ{}", i + 1), fmt::format("θ{}", j + 1)}
            .below();
    panel.add(ellipse("HMC, 2 sd", Style::kLine, 6, mean_of_pair(truth.mean, i, j),
                      pair_of(truth.covariance, i, j), 2));
    panel.add(ellipse(label, Style::kDashes, colour, mean_of_pair(ours.mean, i, j),
                      pair_of(ours.covariance, i, j), 2));
    report.add(panel);
  }
}

ErrorCurves::ErrorCurves(double early, double late) {
  for (std::size_t p = 0; p < 4; ++p) {
    panels_[p] = {.title = fmt::format("{} after {:.2g} gradients of one row",
                                       p < 2 ? "Mean" : "Covariance", p % 2 == 0 ? early : late),
                  .x_label = "effective draws a gradient of one row (mixing rate)",
                  .y_label = p < 2 ? "error E1" : "error E2",
                  .log_x = true,
                  .log_y = true,
                  .legend = "outside bottom center horizontal"};
  }
}

void ErrorCurves::add(const std::string& method, const std::string& mark, int colour, double mixing,
                      const std::array<Estimate, 4>& errors) {
  for (std::size_t p = 0; p < 4; ++p) {
    if (!std::isfinite(errors[p].value)) continue;
    std::vector<Series>& all = panels_[p].series;
    if (all.empty() || all.back().label != method) {
      all.push_back({.label = method, .x = {}, .y = {}, .colour = colour});
    }
    all.back().x.push_back(mixing);
    all.back().y.push_back(errors[p].value);
    all.back().error.push_back(errors[p].mcse);
    all.back().names.push_back(mark);
    all.back().open = all.back().x.size() == 1;
  }
}

void ErrorCurves::add_to(Report& report) const {
  for (const Panel& panel : panels_) report.add(panel);
}

}  // namespace windhover::reproduce
