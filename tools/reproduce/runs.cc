#include "windhover/tools/reproduce/runs.h"

#include "windhover/tools/fit/reference.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {

ordered_json to_json(const MatrixXd& matrix) {
  return {{"rows", matrix.rows()},
          {"values", std::vector<double>(matrix.data(), matrix.data() + matrix.size())}};
}

MatrixXd matrix_from(const ordered_json& json) {
  const auto values = json.at("values").get<std::vector<double>>();
  const auto rows = json.at("rows").get<Index>();
  return Eigen::Map<const MatrixXd>(values.data(), rows,
                                    static_cast<Index>(values.size()) / std::max<Index>(rows, 1));
}

ordered_json to_json(const Moments& moments) {
  return {{"count", moments.count()},
          {"mean", to_json(MatrixXd(moments.mean()))},
          {"covariance", to_json(moments.covariance())}};
}

RunMoments moments_from(const ordered_json& json) {
  return {json.at("count").get<double>(), matrix_from(json.at("mean")),
          matrix_from(json.at("covariance"))};
}

std::vector<RunMoments> moments_of_runs(const std::vector<ordered_json>& runs) {
  std::vector<RunMoments> moments;
  for (const ordered_json& run : runs) moments.push_back(moments_from(run));
  return moments;
}

RunMoments pooled(const std::vector<RunMoments>& runs) {
  RunMoments all{0, VectorXd::Zero(runs[0].mean.size()), MatrixXd(runs[0].covariance * 0)};
  for (const RunMoments& run : runs) {
    all.count += run.count;
    all.mean += run.count * run.mean;
  }
  all.mean /= all.count;
  for (const RunMoments& run : runs) {
    const VectorXd off = run.mean - all.mean;
    all.covariance += run.count / all.count * (run.covariance + off * off.transpose());
  }
  return all;
}

// The jackknife's variance is (n - 1)^2 times that of the mean of independent figures.
Estimate Jackknife::estimate() const {
  return {all, (static_cast<double>(without.size()) - 1) * mean_of(without).mcse};
}

Estimate Jackknife::minus(const Jackknife& other) const {
  Jackknife difference{all - other.all, without};
  for (std::size_t r = 0; r < without.size(); ++r) difference.without[r] -= other.without[r];
  return difference.estimate();
}

Estimate jackknife(const std::vector<RunMoments>& runs,
                   const std::function<double(const RunMoments&)>& value) {
  Jackknife figure{value(pooled(runs)), {}};
  for (std::size_t left_out = 0; left_out < runs.size(); ++left_out) {
    std::vector<RunMoments> others = runs;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    figure.without.push_back(value(pooled(others)));
  }
  return figure.estimate();
}

Estimate mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double v : values) sum += v;
  double squares = 0;
  for (const double v : values) squares += (v - sum / n) * (v - sum / n);
  return {sum / n, std::sqrt(squares / (n - 1) / n)};
}

Estimate mean_over_seeds(const std::vector<double>& values) {
  return values.size() < 2 ? Estimate{values.at(0), 0} : mean_of(values);
}

double number_from(const ordered_json& json) { return json.is_null() ? NAN : json.get<double>(); }

std::vector<double> numbers_from(const ordered_json& json) {
  std::vector<double> out;
  for (const ordered_json& value : json) out.push_back(number_from(value));
  return out;
}

std::vector<ordered_json> replicated(const Context& context, const std::string& key,
                                     const std::string& settings, std::size_t replications,
                                     const std::function<ordered_json(std::uint64_t)>& run,
                                     std::uint64_t seeds) {
  const std::size_t shares = std::min<std::size_t>(replications, 8);
  std::vector<PartJob> jobs;
  for (std::size_t share = 0; share < shares; ++share) {
    jobs.push_back({fmt::format("{}-{}", key, share),
                    fmt::format("{}; {} replications", settings, replications), [&, share] {
                      ordered_json list = ordered_json::array();
                      for (std::size_t r = share; r < replications; r += shares) {
                        list.push_back(run(seeds * context.seed() + r));
                      }
                      return list;
                    }});
  }
  const std::vector<ordered_json> done = context.run_parts(jobs);
  std::vector<ordered_json> runs(replications);
  for (std::size_t r = 0; r < replications; ++r) runs[r] = done[r % shares][r / shares];
  return runs;
}

std::vector<double> values_of(const std::vector<ordered_json>& runs, const char* key,
                              std::optional<std::size_t> index) {
  std::vector<double> values;
  for (const ordered_json& run : runs) {
    const ordered_json& value = run.at(key);
    values.push_back(number_from(index ? value.at(*index) : value));
  }
  return values;
}

Estimate mean_of(const std::vector<ordered_json>& runs, const char* key,
                 std::optional<std::size_t> index) {
  return mean_of(values_of(runs, key, index));
}

Bar around(double value, double within, const Estimate& simulated) {
  const double margin = within + 3 * simulated.mcse;
  const Bar bar{std::ceil(1000 * (value - margin)) / 1000,
                std::floor(1000 * (value + margin)) / 1000};
  return decided_within(bar, within, simulated.mcse);
}

Bar within(double value, double tolerance, const Estimate& simulated) {
  return decided_within({value - tolerance, value + tolerance}, tolerance, simulated.mcse);
}

namespace {

using Value = std::function<double(const RunMoments& ours, const RunMoments& truth)>;

double kl_of(const RunMoments& ours, const RunMoments& truth) {
  return gaussian_kl(ours.mean, ours.covariance, truth.mean, truth.covariance);
}

double error_of(const std::vector<RunMoments>& parts,
                const std::function<double(const RunMoments&)>& value) {
  return parts.size() < 2 ? 0.0 : jackknife(parts, value).mcse;
}

// The expected KL of all parts together from their limit: the KL of a part at its own length, less
// what it shares with the pool.
double kl_by_chance(const std::vector<RunMoments>& parts) {
  const RunMoments all = pooled(parts);
  double sum = 0;
  for (const RunMoments& part : parts) sum += kl_of(part, all);
  const auto n = static_cast<double>(parts.size());
  return n < 2 ? 0.0 : sum / n / (n - 1);
}

}  // namespace

Comparison compare(const std::vector<RunMoments>& ours, const std::vector<RunMoments>& truth) {
  const RunMoments all_ours = pooled(ours);
  const RunMoments all_truth = pooled(truth);
  const auto estimate = [&](const Value& value) -> Estimate {
    const double a = error_of(ours, [&](const RunMoments& m) { return value(m, all_truth); });
    const double b = error_of(truth, [&](const RunMoments& m) { return value(all_ours, m); });
    return {value(all_ours, all_truth), std::hypot(a, b)};
  };
  Comparison out;
  for (Index j = 0; j < all_truth.mean.size(); ++j) {
    const Estimate off = estimate([j](const RunMoments& a, const RunMoments& b) {
      return (a.mean[j] - b.mean[j]) / std::sqrt(b.covariance(j, j));
    });
    const Estimate sd = estimate([j](const RunMoments& a, const RunMoments& b) {
      return std::sqrt(a.covariance(j, j) / b.covariance(j, j));
    });
    out.off.push_back(off);
    if (j == 0 || std::abs(off.value) > out.furthest.value) {
      out.furthest = {std::abs(off.value), off.mcse};
    }
    if (j == 0 || sd.value < out.least_sd.value) out.least_sd = sd;
    if (j == 0 || sd.value > out.most_sd.value) out.most_sd = sd;
  }
  out.kl = estimate(kl_of);
  // KL by chance is half a chi-squared, with as many degrees as there are moments, over the number
  // of draws.
  const auto d = static_cast<double>(all_truth.mean.size());
  const double moments = d + d * (d + 1) / 2;
  const double chance = kl_by_chance(ours) + kl_by_chance(truth);
  out.kl_by_chance = {chance, chance * std::sqrt(2 / moments)};
  return out;
}

Estimate paired_difference(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> differences;
  for (std::size_t seed = 0; seed < std::min(ours.size(), theirs.size()); ++seed) {
    differences.push_back(ours[seed] - theirs[seed]);
  }
  return mean_of(differences);
}

}  // namespace windhover::reproduce
