#include "windhover/tools/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "windhover/runtime/config.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

// Two passes: the textbook formula loses all digits when the mean is far from 0.
void find_moments(Dataset& data) {
  const auto rows = static_cast<double>(data.rows());
  data.mean.assign(data.columns(), 0.0);
  data.sd.assign(data.columns(), 0.0);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    for (std::size_t j = 0; j < data.columns(); ++j) data.mean[j] += data.row(i)[j];
  }
  for (double& mean : data.mean) mean /= rows;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    for (std::size_t j = 0; j < data.columns(); ++j) {
      const double deviation = data.row(i)[j] - data.mean[j];
      data.sd[j] += deviation * deviation;
    }
  }
  for (double& sd : data.sd) sd = std::sqrt(sd / rows);
}

void append_features(const EncodedRow& row, Dataset& data) {
  if (data.sparse_columns > 0) {
    data.features.insert(data.features.end(), row.values.begin(), row.values.end());
    data.indices.insert(data.indices.end(), row.indices.begin(), row.indices.end());
    data.row_ends.push_back(data.features.size());
    return;
  }
  if (row.indices.empty() && row.values.size() == data.columns()) {
    data.features.insert(data.features.end(), row.values.begin(), row.values.end());
    return;
  }
  const std::size_t begin = data.features.size();
  data.features.resize(begin + data.columns(), 0.0);
  for (std::size_t k = 0; k < row.indices.size(); ++k) {
    data.features[begin + row.indices[k]] = row.values[k];
  }
}

// A schema of all columns as unscaled numbers in the order of the file.
Schema schema_of_numbers(const std::string& path, const DatasetOptions& options) {
  const Table table(path, options.table);
  SchemaParts parts;
  parts.path = path;
  parts.table = options.table;
  parts.missing = options.missing;
  const std::size_t target = table.column(options.target);
  parts.target = table.columns()[target];
  if (options.positive) {
    parts.target_rule.kind = TargetRule::Kind::kBinary;
    parts.target_rule.positive = options.positive;
  }
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    if (column == target) continue;
    FeatureRule& rule = parts.rules.emplace_back();
    rule.field = table.columns()[column];
    rule.shift = 0.0;
    rule.scale = 1.0;
  }
  if (parts.rules.empty()) {
    throw UserError(
        fmt::format("{} has no column but the target; at least one feature is needed "
                    "(is the separator right?)",
                    path));
  }
  return Schema(std::move(parts));
}

void append_row(const EncodedRow& row, const Schema& schema, Dataset& data) {
  append_features(row, data);
  data.targets.push_back(row.target);
  if (schema.has_offset()) data.offsets.push_back(row.offset);
  if (schema.has_weight()) data.weights.push_back(row.weight);
  if (schema.has_trials()) data.trials.push_back(row.trials);
}

Dataset load(const std::string& path, const Schema& schema, bool scaled, bool sparse) {
  constexpr std::size_t kLinesListed = 10;
  EngineConfig dense;
  dense.model.features = static_cast<std::uint32_t>(schema.features());
  if (!sparse) value_or_throw(check_structure(dense));
  Table table(path, schema.table_options());
  const RowEncoder encoder(schema, table, RowUse::kObservation, scaled);
  Dataset data;
  if (sparse) {
    data.sparse_columns = schema.features();
  } else {
    data.names = schema.feature_names();
  }
  HashTallies hashed(schema);
  data.target_name = schema.target();
  EncodedRow row;
  while (table.next()) {
    if (!encoder.encode(table, row)) {
      ++data.skipped_rows;
      if (data.skipped_lines.size() < kLinesListed) data.skipped_lines.push_back(table.line());
      continue;
    }
    append_row(row, schema, data);
    hashed.add(row);
  }
  if (data.rows() == 0) throw UserError(fmt::format("{} has no usable row", path));
  const auto& positive = schema.target_rule().positive;
  if (positive && std::ranges::find(data.targets, 1.0) == data.targets.end()) {
    throw UserError(fmt::format("no row of {} has \"{}\" in column {}, which is to mean 1", path,
                                *positive, data.target_name));
  }
  data.hashed = hashed.to_json();
  if (!sparse) find_moments(data);
  return data;
}

}  // namespace

Dataset load_dataset(const std::string& path, const Schema& schema, bool scaled) {
  return load(path, schema, scaled, false);
}

Dataset load_stream(const std::string& path, const Schema& schema) {
  return load(path, schema, schema.sparse(), schema.sparse());
}

// A reservoir (Vitter 1985, algorithm R) of all rows that can be used.
Dataset load_sample(const std::string& path, const Schema& schema, std::size_t most,
                    std::uint64_t seed) {
  struct Drawn {
    std::uint64_t line = 0;
    EncodedRow row;
  };
  Table table(path, schema.table_options());
  const RowEncoder encoder(schema, table, RowUse::kObservation, false);
  std::mt19937_64 random(seed);
  std::vector<Drawn> drawn;
  EncodedRow row;
  std::uint64_t rows = 0;  // that can be used
  while (table.next()) {
    if (!encoder.encode(table, row)) continue;
    ++rows;
    const bool fills = drawn.size() < most;
    const std::uint64_t place = fills ? drawn.size() : random() % rows;
    if (place >= most) continue;
    if (fills) drawn.emplace_back();
    drawn[place].line = table.line();
    std::swap(drawn[place].row, row);
  }
  std::ranges::sort(drawn, {}, &Drawn::line);
  Dataset data;
  data.names = schema.feature_names();
  data.target_name = schema.target();
  for (const Drawn& one : drawn) append_row(one.row, schema, data);
  if (data.rows() > 0) find_moments(data);
  return data;
}

Dataset load_dataset(const std::string& path, const DatasetOptions& options) {
  return load_dataset(path, schema_of_numbers(path, options), false);
}

}  // namespace windhover
