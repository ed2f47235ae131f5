#include "windhover/io/http/json_fault.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>

#include "windhover/io/http/json_features.h"
#include "windhover/runtime/missing_features.h"
#include "windhover/runtime/observation.h"
#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

std::string text_of(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), x);
  return std::string(std::begin(digits), end.ptr);
}

std::string pointer(const char* array, std::size_t at) {
  return std::string("/") + array + "/" + std::to_string(at);
}

std::string where(std::size_t row, const std::string& what) {
  return "row " + std::to_string(row) + ", " + what;
}

// Finds the worst of some numbers: one that is not finite, otherwise the largest.
class Worst {
 public:
  void look_at(double x, const std::string& field, const std::string& place) {
    const double size = std::isfinite(x) ? std::abs(x) : HUGE_VAL;
    if (size <= size_) return;
    size_ = size;
    fault_ = {place + " is " + text_of(x) +
                  (std::isfinite(x) ? ", which is too large" : ", which is no finite number"),
              field};
  }
  JsonFault fault() const { return fault_; }

 private:
  double size_ = -1;
  JsonFault fault_;
};

template <class Rows>
void look_at_features(const Rows& rows, std::size_t row, const ServedModel& model, Worst& worst) {
  const Features features(rows);
  const MissingFeatures missing(model.engine->config().missing_features);
  for (std::size_t i = features.begin_of(row); i < features.end_of(row); ++i) {
    const std::size_t column = features.column(row, i);
    if (std::isnan(features[i]) && !features.sparse() && missing.allows(column)) continue;
    worst.look_at(features[i], pointer(features.name(), i),
                  where(row, "column " + std::to_string(column)));
  }
}

// The first value of a row that is refused for its index.
template <class Rows>
std::optional<JsonFault> index_fault(const Rows& rows, std::size_t row, v1::Reason reason,
                                     const ServedModel& model) {
  const Features features(rows);
  for (std::size_t i = features.begin_of(row); i < features.end_of(row); ++i) {
    const std::size_t column = features.column(row, i);
    const bool wrong = reason == v1::REASON_INDEX_OUT_OF_RANGE
                           ? column >= model.limits.features
                           : i > features.begin_of(row) && column <= features.column(row, i - 1);
    if (!wrong) continue;
    return JsonFault{where(row, "column " + std::to_string(column)) + ": " + words_of(reason) +
                         ", " + std::to_string(model.limits.features) + ", from 0 on",
                     pointer("indices", i)};
  }
  return std::nullopt;
}

template <class Rows>
std::optional<JsonFault> length_fault(const Rows& rows, std::size_t row, const ServedModel& model) {
  const Features features(rows);
  const std::size_t values = features.end_of(row) - features.begin_of(row);
  if (!features.sparse() || values <= model.limits.max_nonzeros) return std::nullopt;
  return JsonFault{where(row, std::to_string(values) + " values") + ": the model takes " +
                       std::to_string(model.limits.max_nonzeros),
                   pointer("row_ends", row)};
}

// What is wrong with the indices of a sparse row.
template <class Rows>
std::optional<JsonFault> value_fault(const Rows& rows, std::size_t row, v1::Reason reason,
                                     const ServedModel& model) {
  if (reason == v1::REASON_TOO_MANY_NONZEROS) return length_fault(rows, row, model);
  const bool of_index =
      reason == v1::REASON_INDEX_OUT_OF_RANGE || reason == v1::REASON_INDICES_NOT_INCREASING;
  return of_index ? index_fault(rows, row, reason, model) : std::nullopt;
}

// A fault in an array of one number a row.
template <class Column>
JsonFault of_column(const Column& column, const char* name, std::size_t row, v1::Reason reason) {
  if (static_cast<int>(row) >= column.size()) return {words_of(reason), ""};
  const double x = column[static_cast<int>(row)];
  return {where(row, std::string(name) + " " + text_of(x)) + ": " + words_of(reason),
          pointer(name, row)};
}

JsonFault of_field(const char* name, v1::Reason reason) {
  return {words_of(reason), std::string("/") + name};
}

bool is_probability(double p) { return p > 0 && p < 1; }

// Which argument of the question is not valid.
JsonFault invalid_argument(const v1::Predict& q) {
  if (q.rows() == 0) return {"rows is 0: a question has at least one", "/rows"};
  for (int i = 0; i < q.quantile_probabilities_size(); ++i) {
    const double p = q.quantile_probabilities(i);
    if (is_probability(p)) continue;
    return {"quantile_probabilities are between 0 and 1: " + text_of(p),
            pointer("quantile_probabilities", static_cast<std::size_t>(i))};
  }
  const double p = q.interval_probability();
  if (p == 0 || (p > 0 && 0.5 * (1 + p) < 1)) return {words_of(v1::REASON_INVALID_ARGUMENT), ""};
  return {"interval_probability is between 0 and 1: " + text_of(p), "/interval_probability"};
}

JsonFault too_large(const v1::Predict& q, const ServedModel& model) {
  const auto most = [](const char* name, std::size_t came, std::size_t limit) {
    return JsonFault{std::to_string(came) + " " + name + ": at most " + std::to_string(limit),
                     std::string("/") + name};
  };
  if (q.rows() > model.limits.max_query_rows) {
    return most("rows", q.rows(), model.limits.max_query_rows);
  }
  const auto quantiles = static_cast<std::size_t>(q.quantile_probabilities_size());
  if (quantiles > kMaxQuantiles) return most("quantile_probabilities", quantiles, kMaxQuantiles);
  const auto thresholds = static_cast<std::size_t>(q.thresholds_size());
  if (thresholds > kMaxThresholds) return most("thresholds", thresholds, kMaxThresholds);
  return {words_of(v1::REASON_TOO_LARGE), ""};
}

JsonFault unsupported(const v1::Predict& q) {
  const std::string none = "the model's answers have none of that: ";
  if (q.quantile_probabilities_size() > 0) {
    return {none + "quantile_probabilities", "/quantile_probabilities"};
  }
  if (q.thresholds_size() > 0) return {none + "thresholds", "/thresholds"};
  if (q.thompson_id() != 0) return {none + "thompson_id", "/thompson_id"};
  return {words_of(v1::REASON_UNSUPPORTED), ""};
}

JsonFault not_finite(const v1::Predict& q, const ServedModel& model) {
  Worst worst;
  for (std::size_t row = 0; row < q.rows(); ++row) look_at_features(q, row, model, worst);
  const auto look_at = [&](const auto& column, const char* name) {
    for (int i = 0; i < column.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      worst.look_at(column[i], pointer(name, at), std::string(name) + " " + std::to_string(i));
    }
  };
  look_at(q.thresholds(), "thresholds");
  look_at(q.outcomes(), "outcomes");
  return worst.fault();
}

JsonFault outcome_fault(const v1::Predict& q, const ServedModel& model) {
  const ModelConfig& config = model.engine->config().model;
  const Response response = find_model(config.name)->response;
  for (int i = 0; i < q.outcomes_size(); ++i) {
    const double y = q.outcomes(i);
    const double most = q.trials_size() > i ? q.trials(i) : 1.0;
    const bool of_trials = response != Response::kBinomial || y <= most;
    if (in_domain(response, config.classes, y) && of_trials) continue;
    return of_column(q.outcomes(), "outcomes", static_cast<std::size_t>(i),
                     v1::REASON_TARGET_OUT_OF_DOMAIN);
  }
  return {words_of(v1::REASON_TARGET_OUT_OF_DOMAIN), "/outcomes"};
}

// The first element for which `good` is false.
template <class Column, class Good>
JsonFault first_fault(const Column& column, const char* name, v1::Reason reason, Good good) {
  for (int i = 0; i < column.size(); ++i) {
    if (!good(column[i])) return of_column(column, name, static_cast<std::size_t>(i), reason);
  }
  return of_field(name, reason);
}

// The largest value of the column, or the first that is NaN: it is over the limit, whatever that
// is.
template <class Column>
JsonFault worst_of(const Column& column, const char* name, v1::Reason reason) {
  std::size_t worst = 0;
  for (int i = 0; i < column.size(); ++i) {
    if (!(std::abs(column[i]) <= std::abs(column[static_cast<int>(worst)]))) {
      worst = static_cast<std::size_t>(i);
      if (std::isnan(column[i])) break;
    }
  }
  return of_column(column, name, worst, reason);
}

double target_of(const v1::Observe& rows, std::uint32_t row) {
  const auto at = static_cast<int>(row);
  return rows.targets_f32_size() > 0 ? double{rows.targets_f32(at)} : rows.targets_f64(at);
}

}  // namespace

JsonFault fault_of(const v1::Predict& q, v1::Reason reason, const ServedModel& model) {
  switch (reason) {
    case v1::REASON_INVALID_ARGUMENT:
      return invalid_argument(q);
    case v1::REASON_TOO_LARGE:
      return too_large(q, model);
    case v1::REASON_UNSUPPORTED:
      return unsupported(q);
    case v1::REASON_NOT_FINITE:
      return not_finite(q, model);
    case v1::REASON_TARGET_OUT_OF_DOMAIN:
      return outcome_fault(q, model);
    case v1::REASON_OFFSET_NOT_TAKEN:
      return of_field("offsets", reason);
    case v1::REASON_OFFSET_OUT_OF_RANGE:
      return worst_of(q.offsets(), "offsets", reason);
    case v1::REASON_TRIALS_NOT_TAKEN:
    case v1::REASON_TRIALS_MISSING:
      return of_field("trials", reason);
    case v1::REASON_TRIALS_OUT_OF_RANGE:
      return first_fault(q.trials(), "trials", reason, is_number_of_trials);
    default:
      break;
  }
  for (std::size_t row = 0; row < q.rows(); ++row) {
    if (auto fault = value_fault(q, row, reason, model)) return *fault;
  }
  return {words_of(reason), ""};
}

JsonFault fault_of(const v1::Draws& question, v1::Reason reason, const ServedModel& model) {
  if (reason != v1::REASON_INVALID_ARGUMENT) return {words_of(reason), ""};
  return {"first is " + std::to_string(question.first()) + ": there are " +
              std::to_string(model.limits.retained_draws) + " draws",
          "/first"};
}

JsonFault fault_of(const v1::Observe& rows, std::uint32_t row, v1::Reason reason,
                   const ServedModel& model) {
  const char* const targets = rows.targets_f32_size() > 0 ? "targets_f32" : "targets_f64";
  switch (reason) {
    case v1::REASON_WRONG_DIMENSION:
      return of_field(Features(rows).name(), reason);
    case v1::REASON_SEQUENCE_GAP:
      return of_field("first_sequence", reason);
    case v1::REASON_UNKNOWN_PRODUCER:
    case v1::REASON_PRODUCER_BUSY:
      return of_field("producer", reason);
    case v1::REASON_OFFSET_NOT_TAKEN:
      return of_field("offsets", reason);
    case v1::REASON_WEIGHT_NOT_TAKEN:
      return of_field("weights", reason);
    case v1::REASON_TRIALS_NOT_TAKEN:
    case v1::REASON_TRIALS_MISSING:
      return of_field("trials", reason);
    default:
      break;
  }
  if (row >= rows.rows()) return {words_of(reason), ""};
  switch (reason) {
    case v1::REASON_NOT_FINITE: {
      Worst worst;
      look_at_features(rows, row, model, worst);
      worst.look_at(target_of(rows, row), pointer(targets, row), where(row, "target"));
      return worst.fault();
    }
    case v1::REASON_TARGET_OUT_OF_DOMAIN:
      return {where(row, "target " + text_of(target_of(rows, row))) + ": " + words_of(reason),
              pointer(targets, row)};
    case v1::REASON_OFFSET_OUT_OF_RANGE:
      return of_column(rows.offsets(), "offsets", row, reason);
    case v1::REASON_WEIGHT_OUT_OF_RANGE:
      return of_column(rows.weights(), "weights", row, reason);
    case v1::REASON_TRIALS_OUT_OF_RANGE:
      return of_column(rows.trials(), "trials", row, reason);
    default: {
      const auto fault = value_fault(rows, row, reason, model);
      return fault ? *fault : JsonFault{where(row, words_of(reason)), ""};
    }
  }
}

}  // namespace windhover
