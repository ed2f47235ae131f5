// Neal's funnel with and without a metric: tutorial Figure 10.
#include <numbers>

#include "windhover/tools/reproduce/recipe_parts.h"

namespace windhover::reproduce {
namespace {

constexpr const char* kFunnelGroup = "Neal's funnel (Figure 10)";
constexpr double kFunnelStep = 0.01;

// v ~ N(0, 9), x ~ N(0, e^v); theta = (v, x).
void funnel_gradient(const double* theta, double* g) {
  const double inverse = std::exp(-theta[0]);
  g[0] = theta[0] / 9 + 0.5 - 0.5 * theta[1] * theta[1] * inverse;
  g[1] = theta[1] * inverse;
}

// A metric in which v / 3 and x e^(-v / 2), standard normal coordinates, are Euclidean.
class NonCentredMetric final : public Metric {
 public:
  explicit NonCentredMetric(bool divergence) : divergence_(divergence ? 1 : 0) {}
  void evaluate(const double* theta, double* root, double* divergence) const noexcept override {
    root[0] = 3;
    root[1] = 1.5 * theta[1];
    root[2] = 0;
    root[3] = std::exp(0.5 * theta[0]);
    divergence[0] = 4.5 * divergence_;
    divergence[1] = 4.5 * theta[1] * divergence_;
  }

 private:
  double divergence_;
};

// The tutorial's, G^-1 = diag(1, e^v), whose divergence is 0.
class DiagonalMetric final : public Metric {
 public:
  void evaluate(const double* theta, double* root, double* divergence) const noexcept override {
    root[0] = 1;
    root[1] = root[2] = 0;
    root[3] = std::exp(0.5 * theta[0]);
    divergence[0] = divergence[1] = 0;
  }
};

const NonCentredMetric kNonCentred(true);
const NonCentredMetric kNonCentredWithout(false);
const DiagonalMetric kDiagonal;

// Bins of v.
constexpr double kReach = 12;
constexpr std::size_t kBins = 24;

ordered_json run_funnel(const SamplerConfig& config, std::uint64_t moves, std::uint64_t seed) {
  Walk walk(config, Told::unit(), funnel_gradient, Vector2d::Zero(), seed);
  for (std::uint64_t i = 0; i < moves / 20; ++i) walk.step();
  double first = 0;
  double square = 0;
  double narrow = 0;
  double throat = 0;
  double wide = 0;
  double scaled = 0;
  std::vector<double> shares(kBins);
  bool sound = true;
  for (std::uint64_t i = 0; i < moves && sound; ++i) {
    sound = walk.step();
    const double v = walk.theta()[0];
    const double x = walk.theta()[1];
    first += v;
    square += v * v;
    narrow += v < -2 ? 1 : 0;
    throat += v < -5 ? 1 : 0;
    wide += v > 0 ? 1 : 0;
    scaled += x * x * std::exp(-v);
    const double place = (v + kReach) * kBins / (2 * kReach);
    if (place >= 0 && place < kBins) shares[static_cast<std::size_t>(place)] += 1;
  }
  const double n = sound ? static_cast<double>(moves) : NAN;
  for (double& share : shares) share /= n;
  return {{"mean", first / n},    {"variance", square / n}, {"narrow", narrow / n},
          {"throat", throat / n}, {"wide", wide / n},       {"scaled", scaled / n},
          {"shares", shares},     {"lost", sound ? 0 : 1}};
}

// Indices into methods().
constexpr std::size_t kPlain = 0;
constexpr std::size_t kShortStep = 1;
constexpr std::size_t kDiagonalMetric = 2;
constexpr std::size_t kNonCentredOne = 3;
constexpr std::size_t kWithout = 4;

// What one method has of the funnel.
struct Shares {
  Estimate narrow, throat, wide, mean, scaled;
};

void add_funnel_notes(Report& report, const std::vector<Shares>& found, double narrow,
                      double throat) {
  const auto against = [](const Estimate& figure, double exact) {
    return fmt::format("{} ({})", shown(figure),
                       sentence(figure, exact, {"more", "less", "not to be told from it"}));
  };
  report.note(
      "Funnel: with `rsgld` on the non-centred metric v <- (1 - h) v + N(0, 18 h) whatever x does, "
      "so that the law of v is known in discrete time. The tutorial's metric diag(1, e^v) has no "
      "divergence, and v <- (1 - h / 9) v + noise of mean 0: it forgets v in 9 / h moves where the "
      "other takes 1 / h. Without its divergence the non-centred one takes 4.5 h off v in each "
      "move, which makes its mean -4.5: it comes to {}. E x^2 e^-v is 1: it is {} with diag(1, "
      "e^v) and {} with the non-centred metric, at h = {}.",
      against(found[kWithout].mean, -4.5), against(found[kDiagonalMetric].scaled, 1),
      against(found[kNonCentredOne].scaled, 1), kFunnelStep);
  report.note(
      "Figure 10 has plain SGLD never below v = -2 and its draws heavily towards v > 0. At h = {} "
      "it {} (share {}, where the density has {:.4g}: {}); above 0 lie {}, where the density has "
      "0.5. Below -5 lie {}, where the density has {:.4g}: x <- (1 - h e^-v) x + noise is stable "
      "where e^-v < 2 / h, v > {:.2f}. At h = 0.001 that is v > {:.2f}, and {} lie below -5.",
      kFunnelStep,
      sentence(found[kPlain].narrow, 0,
               {"does get there", "is not there", "is not there more than by chance"}),
      shown(found[kPlain].narrow), narrow,
      sentence(found[kPlain].narrow, narrow,
               {"too often", "not often enough", "no difference can be told"}),
      against(found[kPlain].wide, 0.5), against(found[kPlain].throat, throat), throat,
      std::log(kFunnelStep / 2), std::log(0.001 / 2), against(found[kShortStep].throat, throat));
}

Panel drawn_funnel(const MetricMethod& method, std::uint64_t seed) {
  const bool plain = method.config.metric == nullptr;
  Panel panel =
      Panel{fmt::format("{}: every 250th of 125,000 (Fig. 10{})", method.label, plain ? "a" : "b"),
            "v", "x"}
          .below()
          .x_in(-10, 10)
          .y_in(-15, 15);
  panel.add(path(method, funnel_gradient, Vector2d::Zero(), 125'000, 250, seed));
  for (const double deviations : {-2.0, 2.0}) {
    panel.add(Series::line(deviations > 0 ? "2 sd of x given v" : "", 6)
                  .sample(evenly(-10, 0.25, 81),
                          [&](double v) { return deviations * std::exp(0.5 * v); }));
  }
  if (plain) {
    panel.add(Series::dashes("tutorial: never v < -2", 7, {-2, -2}, {-15, 15}));
  }
  return panel;
}

}  // namespace

void add_funnel(const Context& context, Report& report) {
  Table table(report, kFunnelGroup);
  const std::vector<MetricMethod> methods = {
      {"sgld, h = 0.01", {.name = "sgld", .step_size = kFunnelStep}, 1, true, false},
      {"sgld, h = 0.001", {.name = "sgld", .step_size = 0.001}, 4, false, false},
      {"rsgld, diag(1, e^v)", with_metric(kDiagonal, kFunnelStep), 0, true, true},
      {"rsgld, non-centred metric", with_metric(kNonCentred, kFunnelStep), 2, true, true},
      {"non-centred, no divergence", with_metric(kNonCentredWithout, kFunnelStep), 3, true, false}};
  const auto base_moves = context.choose<std::uint64_t>(500'000, 10'000'000);
  const double narrow = 0.5 * std::erfc(2 / 3.0 / std::numbers::sqrt2);
  const double throat = 0.5 * std::erfc(5 / 3.0 / std::numbers::sqrt2);
  table.add("share of v < -2, exact", narrow);
  table.add("share of v < -5, exact", throat);
  Panel marginal = Panel{"Marginal of v (Fig. 10c)", "v", "density"}.below().y_in(0, 0.16);
  marginal.add(Series::line("N(0, 9)", 6).sample(evenly(-kReach, 0.25, 97), [](double v) {
    return std::exp(-v * v / 18) / std::sqrt(18 * std::numbers::pi);
  }));
  Agreement agreement;
  std::vector<Shares> found;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const MetricMethod& method = methods[m];
    // The slowest method that has a bar gets more moves.
    const std::uint64_t moves = (m == kDiagonalMetric ? 3 : 1) * base_moves;
    const auto runs = replicated(
        context, fmt::format("funnel-{}", m),
        fmt::format("{}, {}, {} moves", method.label, settings_text(method.config), moves), 16,
        [&](auto seed) { return run_funnel(method.config, moves, seed); });
    add_lost(report, kFunnelGroup, method.label, runs);
    const auto add = [&](const char* what, const char* key, double truth,
                         std::optional<double> within, std::optional<double> papers = {}) {
      const Estimate e = mean_of(runs, key);
      table.add(fmt::format("{}: {}", method.label, what), e)
          .beside(papers, "Figure 10 (a), \"never\"")
          .held_to(when(method.barred && within, around(truth, within.value_or(0), e)));
      return e;
    };
    const Estimate mean = add("mean of v (0)", "mean", 0, 0.1);
    const Estimate variance = add("mean of v^2 (9)", "variance", 9, 0.5);
    Shares shares{.narrow = add("share of v < -2", "narrow", narrow, 0.01,
                                m == kPlain ? std::optional(0.0) : std::nullopt),
                  .throat = add("share of v < -5", "throat", throat, 0.01),
                  .wide = add("share of v > 0 (0.5)", "wide", 0.5, {}),
                  .mean = mean,
                  .scaled = add("mean of x^2 e^-v (1)", "scaled", 1, {})};
    found.push_back(shares);
    const Metric* metric = method.config.metric;
    if (metric == &kNonCentred || metric == &kNonCentredWithout) {
      // v <- (1 - h) v + N(0, 18 h), or with h 4.5 less each time.
      const double centre = metric == &kNonCentred ? 0 : -4.5;
      agreement.add(mean, centre);
      agreement.add(variance, 9 / (1 - kFunnelStep / 2) + centre * centre);
    }
    if (method.drawn) {
      marginal.add(density(method.label, method.colour, runs, kReach, kBins));
    }
    if (m == kPlain || m == kDiagonalMetric) report.add(drawn_funnel(method, context.seed()));
  }
  agreement.add_to(report, kFunnelGroup);
  report.add(marginal);
  add_funnel_notes(report, found, narrow, throat);
}

}  // namespace windhover::reproduce
