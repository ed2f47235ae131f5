// Finds arrays of a request that contradict its number of rows.
#include <cstdint>
#include <optional>
#include <string>

#include "windhover/io/http/json_fault.h"
#include "windhover/io/http/json_features.h"

namespace windhover {
namespace {

template <class Rows>
std::optional<JsonFault> given_twice(const Rows& rows) {
  if (rows.features_f32_size() > 0 && rows.features_f64_size() > 0) {
    return JsonFault{"features come as features_f32 or as features_f64, not as both",
                     "/features_f32"};
  }
  return std::nullopt;
}

template <class Rows>
std::optional<JsonFault> contradiction(const Rows& rows) {
  const std::string all = std::to_string(rows.rows()) + " rows";
  const Features features(rows);
  const std::string name = std::string("/") + features.name();
  const std::string came = std::to_string(features.count());
  if (rows.indices_size() > 0 || features.sparse()) {
    if (rows.row_ends_size() != static_cast<int>(rows.rows())) {
      return JsonFault{std::to_string(rows.row_ends_size()) + " row_ends came for " + all,
                       "/row_ends"};
    }
    if (rows.indices_size() != static_cast<int>(features.count())) {
      return JsonFault{
          std::to_string(rows.indices_size()) + " indices came for " + came + " values",
          "/indices"};
    }
  } else if (rows.rows() == 0 ? features.count() > 0 : features.count() % rows.rows() != 0) {
    return JsonFault{came + " numbers came for " + all + ", which are not as many in each", name};
  }
  return std::nullopt;
}

std::optional<JsonFault> not_one_a_row(int count, std::uint32_t rows, const char* name) {
  if (count == 0 || count == static_cast<int>(rows)) return std::nullopt;
  return JsonFault{std::to_string(count) + " " + name + " came for " + std::to_string(rows) +
                       " rows: one a row, or none",
                   std::string("/") + name};
}

std::optional<JsonFault> contradiction_of(const v1::Predict& q) {
  if (auto fault = given_twice(q)) return fault;
  if (auto fault = not_one_a_row(q.outcomes_size(), q.rows(), "outcomes")) return fault;
  if (auto fault = not_one_a_row(q.offsets_size(), q.rows(), "offsets")) return fault;
  if (auto fault = not_one_a_row(q.trials_size(), q.rows(), "trials")) return fault;
  if (auto fault = not_one_a_row(q.keys_size(), q.rows(), "keys")) return fault;
  return contradiction(q);
}

std::optional<JsonFault> contradiction_of(const v1::Observe& o) {
  if (auto fault = given_twice(o)) return fault;
  if (o.targets_f32_size() > 0 && o.targets_f64_size() > 0) {
    return JsonFault{"targets come as targets_f32 or as targets_f64, not as both", "/targets_f32"};
  }
  const bool narrow = o.targets_f32_size() > 0;
  const int targets = o.targets_f32_size() + o.targets_f64_size();
  if (targets != static_cast<int>(o.rows())) {
    return JsonFault{std::to_string(targets) + " targets came for " + std::to_string(o.rows()) +
                         " rows: one a row",
                     narrow ? "/targets_f32" : "/targets_f64"};
  }
  if (narrow ? o.features_f64_size() > 0 : o.features_f32_size() > 0 && targets > 0) {
    return JsonFault{"features and targets are both of 4 bytes or both of 8",
                     narrow ? "/targets_f32" : "/targets_f64"};
  }
  if (auto fault = not_one_a_row(o.offsets_size(), o.rows(), "offsets")) return fault;
  if (auto fault = not_one_a_row(o.weights_size(), o.rows(), "weights")) return fault;
  if (auto fault = not_one_a_row(o.trials_size(), o.rows(), "trials")) return fault;
  return contradiction(o);
}

}  // namespace

JsonFault contradiction_in(const v1::Request& request) {
  std::optional<JsonFault> fault;
  if (request.has_predict()) fault = contradiction_of(request.predict());
  if (request.has_observe()) fault = contradiction_of(request.observe());
  if (fault) return *fault;
  return {"the arrays contradict the number of rows", ""};
}

JsonFault width_fault(const v1::Predict& question, const ModelLimits& limits) {
  const std::string wanted = std::to_string(limits.features);
  const Features features(question);
  const std::string field = std::string("/") + features.name();
  const std::size_t came = features.count();
  const bool indexed = question.indices_size() + question.row_ends_size() > 0;
  if (limits.max_nonzeros > 0) {
    if (indexed || came == 0) return {};
    return {"this model takes sparse rows, with indices and row_ends beside the values", field};
  }
  if (indexed) {
    return {"this model takes dense rows, " + wanted + " numbers each, without indices",
            question.indices_size() > 0 ? "/indices" : "/row_ends"};
  }
  const std::uint64_t rows = question.rows();
  if (came == rows * limits.features) return {};
  if (rows > 0 && came % rows == 0) {
    return {
        "each row has " + std::to_string(came / rows) + " numbers, and the model takes " + wanted,
        field};
  }
  return {std::to_string(came) + " numbers came for " + std::to_string(rows) +
              " rows, and the model takes " + wanted + " a row",
          field};
}

}  // namespace windhover
