#ifndef WINDHOVER_TOOLS_DATA_DATASET_H_
#define WINDHOVER_TOOLS_DATA_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "windhover/tools/data/table.h"

namespace windhover {

class Schema;

// How a file of numbers is read: every column but the target is a feature.
struct DatasetOptions {
  TableOptions table = {};
  std::string target;  // name, or number counted from 1
  // The text of the target that means 1; any other is 0. Nothing: the target is a number.
  std::optional<std::string> positive = std::nullopt;
  MissingPolicy missing = MissingPolicy::kRefuse;
};

// A whole file in memory.
struct Dataset {
  std::vector<std::string> names;  // of the features, in the order of the file
  std::string target_name;
  std::vector<double> features;  // rows x columns, row after row
  // Sparse rows only: the number of columns. `features` then holds the values that are not 0,
  // `indices` their columns and `row_ends` the end of each row; there are no names and no moments.
  std::size_t sparse_columns = 0;
  std::vector<std::uint32_t> indices;
  std::vector<std::size_t> row_ends;
  std::vector<double> targets;  // rows
  std::vector<double> offsets;  // per row, where the schema has an offset; otherwise empty
  std::vector<double> weights;  // per row, where it has a weight
  std::vector<double> trials;   // per row, where its target has trials
  std::vector<double> mean;     // of each feature
  std::vector<double> sd;       // of the population: divided by the rows, not by rows - 1
  // Rows that the schema skips, and the lines of the first of them; not by load_sample().
  std::uint64_t skipped_rows = 0;
  std::vector<std::uint64_t> skipped_lines;
  nlohmann::ordered_json hashed;  // HashTallies of the rows; not by load_sample()

  std::size_t rows() const { return targets.size(); }
  std::size_t columns() const { return sparse_columns > 0 ? sparse_columns : names.size(); }
  // REQUIRES: the rows are dense.
  const double* row(std::size_t i) const { return features.data() + i * columns(); }
};

// The rows by a complete schema, dense. Numbers are not shifted and scaled unless `scaled`.
// UserError names file, line and column.
Dataset load_dataset(const std::string& path, const Schema& schema, bool scaled);

// The rows as a server gets them: sparse and scaled if the schema is sparse, otherwise dense and
// unscaled.
Dataset load_stream(const std::string& path, const Schema& schema);

// A sample of at most `most` of the rows of load_dataset(), unscaled and in the order of the file;
// each row is equally likely. It depends on the file, the schema and the seed only. Reads the whole
// file and holds only the rows that it keeps.
Dataset load_sample(const std::string& path, const Schema& schema, std::size_t most,
                    std::uint64_t seed);

// The rows of a file of numbers, unscaled.
Dataset load_dataset(const std::string& path, const DatasetOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_DATASET_H_
