#include "windhover/tools/client/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "windhover/tools/data/nearest.h"
#include "windhover/tools/error.h"

namespace windhover {

void QuestionRows::add(const EncodedRow& row, const Schema& schema) {
  ++rows;
  features.insert(features.end(), row.values.begin(), row.values.end());
  if (schema.has_offset()) offsets.push_back(row.offset);
  if (schema.has_trials()) trials.push_back(row.trials);
  if (!schema.sparse()) return;
  indices.insert(indices.end(), row.indices.begin(), row.indices.end());
  row_ends.push_back(static_cast<std::uint32_t>(indices.size()));
}

void QuestionRows::clear() {
  rows = 0;
  features.clear();
  indices.clear();
  row_ends.clear();
  offsets.clear();
  trials.clear();
}

void QuestionRows::put_into(PredictRequest& request) const {
  request.rows = rows;
  request.features = features;
  request.indices = indices;
  request.row_ends = row_ends;
  request.offsets = offsets;
  request.trials = trials;
}

std::vector<WhatIf> what_ifs(const std::vector<std::string>& set, std::size_t most) {
  std::vector<std::pair<std::string, std::vector<std::string>>> fields;
  for (const std::string& text : set) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError(fmt::format("--set \"{}\" is not allowed: NAME=VALUE is expected", text));
    }
    const std::string name = text.substr(0, equals);
    auto field = std::find_if(fields.begin(), fields.end(),
                              [&](const auto& known) { return known.first == name; });
    if (field == fields.end()) field = fields.insert(fields.end(), {name, {}});
    std::vector<std::string>& values = field->second;
    values.push_back(text.substr(equals + 1));
    if (std::count(values.begin(), values.end(), values.back()) > 1) {
      throw UserError(fmt::format("--set gives {} twice", text));
    }
  }
  std::vector<WhatIf> questions(1);
  for (const auto& [name, values] : fields) {
    if (questions.size() * values.size() > most) {
      throw UserError(fmt::format(
          "--set asks {} or more questions, the server answers up to {} at a time: put them into a "
          "CSV file and give --file",
          questions.size() * values.size(), most));
    }
    std::vector<WhatIf> combined;
    for (const WhatIf& question : questions) {
      for (const std::string& value : values) {
        combined.push_back(question);
        combined.back().fields[name] = value;
        if (values.size() < 2) continue;
        std::string& label = combined.back().label;
        label += fmt::format("{}{}={}", label.empty() ? "" : ", ", name, value);
      }
    }
    questions = std::move(combined);
  }
  return questions;
}

std::string unlisted_text(const Schema& schema, std::string_view field, std::string_view value) {
  std::string meant;
  for (const FeatureRule& rule : schema.parts().rules) {
    if (rule.field == field && rule.kind == FeatureRule::Kind::kCategory)
      meant = did_you_mean(value, rule.categories);
  }
  return fmt::format("{} = \"{}\" is not listed in {}{}; answered as for any other {}", field,
                     value, schema.parts().path, meant, field);
}

}  // namespace windhover
