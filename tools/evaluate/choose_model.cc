#include "windhover/tools/evaluate/choose_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/samplers/config.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/data/inspect_target.h"
#include "windhover/tools/error.h"
#include "windhover/tools/evaluate/row_scores.h"

namespace windhover {
namespace {

constexpr std::size_t kMostRows = 2'000;
constexpr std::size_t kFewestScored = 50;
constexpr std::uint32_t kMostFeatures = 200;
constexpr std::uint64_t kSeed = 1;
constexpr double kWorthWhile = 0.02;  // nats a row
// How much each chunk grows: rows in random order are alike, so that chunks may be large; those of
// a file may have a trend.
constexpr double kGrowth = 0.5;
constexpr double kGrowthInOrder = 0.25;

constexpr std::string_view kPlain = "linear";

Dataset in_order(const Dataset& data, std::span<const std::size_t> order) {
  Dataset out;
  out.names = data.names;
  for (const std::size_t i : order) {
    out.features.insert(out.features.end(), data.row(i), data.row(i) + data.columns());
    out.targets.push_back(data.targets[i]);
  }
  return out;
}

Dataset shuffled(const Dataset& data) {
  std::vector<std::size_t> order(data.rows());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(kSeed);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
  return in_order(data, order);
}

// Money in steps of ten, marks in steps of five: measured, not counted.
bool have_common_divisor(const std::vector<double>& whole) {
  std::uint64_t divisor = 0;
  for (const double y : whole) divisor = std::gcd(divisor, static_cast<std::uint64_t>(y));
  return divisor > 1;
}

std::vector<std::string_view> rivals_of(const ColumnFacts& target, const Dataset& data) {
  constexpr double kExact = 0x1.0p53;
  std::vector<std::string_view> rivals;
  if (target.least() > 0) rivals.emplace_back("log-normal");
  if (may_be_counts(target) && target.greatest() <= kExact && !have_common_divisor(data.targets))
    rivals.emplace_back("negative-binomial");
  return rivals;
}

bool is_to_be_chosen(const Inspection& inspection, const InspectOptions& options) {
  const Schema& schema = inspection.schema;
  return options.model.empty() && schema.target_rule().kind == TargetRule::Kind::kNumber &&
         !schema.has_offset() && !schema.has_weight() && !schema.has_trials() &&
         schema.features() <= kMostFeatures && inspection.target.cells() >= kFewestScored;
}

// Compares models on the rows in one order.
class Scores {
 public:
  Scores(const Dataset& data, bool whole, double growth)
      : data_(data), whole_(whole), growth_(growth) {}

  struct Compared {
    Lead lead;
    double bias = 0;
  };
  // None where a model cannot be scored on these rows, as where a number is too large for it.
  std::optional<Compared> compare(std::string_view model) {
    if (plain_.scores.empty()) plain_ = of(kPlain);
    const RowScores rival = of(model);
    if (plain_.scores.empty() || rival.scores.empty()) return std::nullopt;
    const std::span targets = std::span(data_.targets).last(rival.scores.size());
    return Compared{lead_of(rival.scores, plain_.scores), bias_of(rival.misses, targets)};
  }

 private:
  RowScores of(std::string_view model) const {
    try {
      return row_scores(model, data_, whole_, growth_);
    } catch (const UserError&) {
    } catch (const RunError&) {
    }
    return {};
  }

  const Dataset& data_;
  const bool whole_;
  const double growth_;
  RowScores plain_;  // computed once for all rivals
};

struct Tried {
  std::string_view model;
  Lead lead;        // over linear, in random order
  double bias = 0;  // likewise
  bool behind_in_order = false;

  bool wins() const { return lead.is_clear() && bias == 0 && !behind_in_order; }
};

// The rival with the largest lead among those that win, or if none wins among all.
std::optional<Tried> best_rival(const std::vector<std::string_view>& rivals, const Dataset& data,
                                bool whole) {
  const Dataset random_order = shuffled(data);
  Scores random(random_order, whole, kGrowth);
  Scores file(data, whole, kGrowthInOrder);
  std::optional<Tried> best;
  for (const std::string_view model : rivals) {
    const std::optional<Scores::Compared> compared = random.compare(model);
    if (!compared) continue;
    Tried tried{model, compared->lead, compared->bias};
    if (tried.wins()) {
      const std::optional<Scores::Compared> in_file = file.compare(model);
      tried.behind_in_order = !in_file || in_file->lead.is_behind();
    }
    const auto rank = [](const Tried& t) { return std::pair(t.wins(), t.lead.mean); };
    if (!best || rank(tried) > rank(*best)) best = tried;
  }
  return best;
}

struct MeanAndError {
  double mean = 0;
  double error = 0;  // as of independent numbers
};

MeanAndError mean_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  MeanAndError of;
  for (const double value : values) of.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - of.mean) * (value - of.mean);
  of.error = std::sqrt(squares / (count * (count - 1)));
  return of;
}

// What was found, as the second half of a sentence.
std::string finding(const Tried& tried) {
  const double lead = tried.lead.mean;
  const std::string rows = fmt::format("{} predicted {} rows", tried.model, tried.lead.rows);
  if (std::abs(lead) < 0.005) return rows + " as well as linear";
  const std::string said = fmt::format("{} {:.2f} nats a row {} than linear", rows, std::abs(lead),
                                       lead > 0 ? "better" : "worse");
  if (tried.wins()) return said + "; --model linear insists on that";
  if (lead > 0 && tried.bias != 0) {
    return said + fmt::format(", but its means are {:.0f} % too {}", 100 * std::abs(tried.bias),
                              tried.bias < 0 ? "large" : "small");
  }
  if (tried.behind_in_order) return said + " in random order, but worse in the order of the file";
  return said + (lead > 0 ? ", which is little or may be chance" : "");
}

}  // namespace

bool Lead::is_clear() const { return mean > std::max(kWorthWhile, 3 * error); }
bool Lead::is_behind() const { return mean < -std::max(kWorthWhile, 2 * error); }

Lead lead_of(std::span<const double> scores, std::span<const double> over) {
  std::vector<double> ahead(scores.begin(), scores.end());
  for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] -= over[i];
  const MeanAndError found = mean_of(ahead);
  return {.mean = found.mean, .error = found.error, .rows = ahead.size()};
}

double bias_of(std::span<const double> misses, std::span<const double> targets) {
  constexpr double kRight = 0.05;
  double size = 0;
  for (const double y : targets) size += std::abs(y) / static_cast<double>(targets.size());
  const MeanAndError miss = mean_of(misses);
  const bool right = std::abs(miss.mean) <= std::max(kRight * size, 3 * miss.error);
  return right ? 0 : miss.mean / size;
}

Inspection inspect_and_choose(const std::string& path, const InspectOptions& options) {
  Inspection inspection = inspect(path, options);
  if (!is_to_be_chosen(inspection, options)) return inspection;
  const ColumnFacts& target = inspection.target;
  if (!(target.least() > 0) && !may_be_counts(target)) return inspection;
  const Dataset data = load_sample(path, inspection.schema, kMostRows, kSeed);
  if (data.rows() < unscored_rows(data) + kFewestScored) return inspection;
  const std::optional<Tried> best = best_rival(rivals_of(target, data), data, target.whole());
  if (!best) return inspection;
  std::string found = finding(*best);
  const bool many = target.different_texts() > kMaxClasses;
  if (best->wins()) {
    if (target.whole() && !many) found += "; if these are classes, --model softmax";
    take_model(inspection, best->model, found);
    return inspection;
  }
  std::string hint = number_hint(target, many, !(target.least() > 0));
  if (!hint.empty()) hint += "; " + found;
  take_model(inspection, kPlain, hint);
  if (hint.empty()) inspection.target_note += "; " + found;
  return inspection;
}

}  // namespace windhover
