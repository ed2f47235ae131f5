// Samplers of one recipe on a curved density, and the effect of a metric's divergence: tutorial
// Figure 2.
#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {
namespace {

constexpr const char* kCurvedGroup = "Curved density (Figure 2)";
constexpr double kCurvedStep = 0.02;
constexpr double kLongStep = 0.1;

// theta_1 = z_1, theta_2 = z_2 + z_1^2 - 1, z standard normal: curved, with E theta_2 = 0.
void curved_gradient(const double* theta, double* g) {
  const double z = theta[1] - theta[0] * theta[0] + 1;
  g[0] = theta[0] - 2 * theta[0] * z;
  g[1] = z;
}

// A metric in which the standard normal coordinates z are Euclidean: R is d theta / d z.
class CurvedMetric final : public Metric {
 public:
  explicit CurvedMetric(bool divergence) : divergence_(divergence ? 1 : 0) {}
  void evaluate(const double* theta, double* root, double* divergence) const noexcept override {
    root[0] = root[3] = 1;
    root[1] = 2 * theta[0];
    root[2] = 0;
    divergence[0] = 0;
    divergence[1] = 2 * divergence_;
  }

 private:
  double divergence_;
};

const CurvedMetric kCurved(true);
const CurvedMetric kCurvedWithout(false);

// The mean of theta_2 in rsgld's discrete time: theta_1 <- (1 - h) theta_1 + N(0, 2h), and theta_2
// is stationary in the mean.
double centre(bool divergence) { return (divergence ? 2 : 0) - (1 / (1 - kLongStep / 2) + 1); }

ordered_json run_curved(const SamplerConfig& config, std::uint64_t moves, std::uint64_t seed) {
  Walk walk(config, Told::unit(), curved_gradient, Vector2d::Zero(), seed);
  for (std::uint64_t i = 0; i < moves / 20; ++i) walk.step();
  double square = 0;
  double second = 0;
  bool sound = true;
  for (std::uint64_t i = 0; i < moves && sound; ++i) {
    sound = walk.step();
    square += walk.theta()[0] * walk.theta()[0];
    second += walk.theta()[1];
  }
  const double n = sound ? static_cast<double>(moves) : NAN;
  return {{"square", square / n}, {"second", second / n}, {"lost", sound ? 0 : 1}};
}

Panel drawn(const MetricMethod& method, std::uint64_t seed) {
  Panel panel = Panel{fmt::format("{}: 100 moves (Fig. 2)", method.label), "theta_1", "theta_2"}
                    .legend_at("top center")
                    .x_in(-3.2, 3.2)
                    .y_in(-4, 9);
  for (const double deviations : {1.0, 2.0}) {
    Series contour = ellipse(deviations == 1 ? "density, 1 and 2 sd of z" : "", Style::kDashes, 7,
                             Vector2d::Zero(), Matrix2d::Identity(), deviations);
    for (std::size_t i = 0; i < contour.x.size(); ++i) {
      contour.y[i] = contour.y[i] + contour.x[i] * contour.x[i] - 1;
    }
    panel.add(contour);
  }
  panel.add(path(method, curved_gradient, Vector2d(0, -1), 100, 1, seed));
  panel.series.back().label.clear();
  return panel;
}

}  // namespace

SamplerConfig with_metric(const Metric& metric, double step) {
  return {.name = "rsgld", .step_size = step, .metric = &metric};
}

Series path(const MetricMethod& method, void (*gradient)(const double*, double*),
            const Vector2d& start, std::size_t moves, std::size_t thin, std::uint64_t seed) {
  Walk walk(method.config, Told::unit(), gradient, start, seed);
  Series series = thin == 1 ? Series::line(method.label, method.colour)
                            : Series::points(method.label, method.colour);
  add_path(series, walk, moves, thin);
  return series;
}

void add_lost(Report& report, const std::string& group, const std::string& label,
              const std::vector<ordered_json>& runs) {
  const double lost = mean_of(runs, "lost").value * static_cast<double>(runs.size());
  if (lost == 0) return;
  Table(report, group)
      .add(fmt::format("{}: runs that left the finite numbers, of {}", label, runs.size()), lost);
}

void add_metric(const Context& context, Report& report) {
  Table table(report, kCurvedGroup);
  const std::vector<MetricMethod> methods = {
      {"rsgld, h = 0.1", with_metric(kCurved, kLongStep), 0, true, false},
      {"sgld, h = 0.02", {.name = "sgld", .step_size = kCurvedStep}, 1, true, true},
      {"sghmc, h = 0.02, a = 0.1",
       {.name = "sghmc", .step_size = kCurvedStep, .friction = 0.1},
       2,
       true,
       true},
      {"rsgld without the divergence, h = 0.1", with_metric(kCurvedWithout, kLongStep), 3, false,
       false}};
  const auto moves = context.choose<std::uint64_t>(300'000, 3'000'000);
  Agreement agreement;
  Estimate without;
  for (const MetricMethod& method : methods) {
    const auto runs = replicated(
        context, fmt::format("curved-{}", method.colour),
        fmt::format("{}, {}, {} moves", method.label, settings_text(method.config), moves), 8,
        [&](auto seed) { return run_curved(method.config, moves, seed); });
    add_lost(report, kCurvedGroup, method.label, runs);
    const Estimate square = mean_of(runs, "square");
    const Estimate second = mean_of(runs, "second");
    table.add(fmt::format("{}: mean of theta_1^2 (density: 1)", method.label), square)
        .held_to(when(method.barred, around(1, 0.1, square)));
    table.add(fmt::format("{}: mean of theta_2 (density: 0)", method.label), second)
        .held_to(when(method.barred, around(0, 0.1, second)));
    if (method.config.metric != nullptr) {
      const double exact = centre(method.config.metric == &kCurved);
      table.add(fmt::format("{}: mean of theta_2, exact", method.label), exact);
      agreement.add(square, 1 / (1 - kLongStep / 2));
      agreement.add(second, exact);
    }
    if (method.config.metric == &kCurvedWithout) without = second;
    if (method.drawn) report.add(drawn(method, context.seed()));
  }
  agreement.add_to(report, kCurvedGroup);
  report.note(
      "Curved density: theta_1 = z_1, theta_2 = z_2 + z_1^2 - 1, z standard normal. In the "
      "recipe's terms SGLD has D = I and Q = 0, SGHMC friction in D and +-I in Q, RSGLD D = G^-1 "
      "and its divergence. `rsgld` is on the metric of z, with which theta_1 <- (1 - h) theta_1 + "
      "N(0, 2 h) whatever theta_2 does. The divergence there is (0, 2): left out, the mean of "
      "theta_2 comes to {}, {} the exact mean with it, {:.4g}.",
      shown(without), sentence(without, centre(true), {"above", "below", "not to be told from"}),
      centre(true));
}

}  // namespace windhover::reproduce
