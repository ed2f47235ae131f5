#include "windhover/tools/dataset.h"

#include <fmt/format.h>

#include <cmath>

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

// Appends the current row; false when a cell is missing and such rows are passed over.
bool append_row(const Table& table, std::size_t target, const DatasetOptions& options,
                Dataset& data) {
  const std::size_t begin = data.features.size();
  const bool skips = options.missing == MissingPolicy::kSkip;
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    if (column == target) continue;
    const std::optional<double> value = table.number(column);
    if (!value && skips) {
      data.features.resize(begin);
      return false;
    }
    data.features.push_back(value ? *value : table.require_number(column));
  }
  if (options.positive) {
    data.targets.push_back(table.text(target) == *options.positive ? 1.0 : 0.0);
    return true;
  }
  const std::optional<double> value = table.number(target);
  if (!value && skips) {
    data.features.resize(begin);
    return false;
  }
  data.targets.push_back(value ? *value : table.require_number(target));
  return true;
}

}  // namespace

Dataset load_dataset(const std::string& path, const DatasetOptions& options) {
  Table table(path, options.table);
  Dataset data;
  const std::size_t target = table.column(options.target);
  data.target_name = table.columns()[target];
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    if (column != target) data.names.push_back(table.columns()[column]);
  }
  if (data.names.empty()) {
    throw UserError(
        fmt::format("{} has no column but the target; at least one feature is needed "
                    "(is the separator right?)",
                    path));
  }
  while (table.next()) {
    if (!append_row(table, target, options, data)) ++data.skipped_rows;
  }
  if (data.rows() == 0) throw UserError(fmt::format("{} has no usable row", path));
  if (options.positive) {
    bool found = false;
    for (const double y : data.targets) found = found || y == 1.0;
    if (!found) {
      throw UserError(fmt::format("no row of {} has \"{}\" in column {}, which is to mean 1", path,
                                  *options.positive, data.target_name));
    }
  }
  find_moments(data);
  return data;
}

}  // namespace windhover
