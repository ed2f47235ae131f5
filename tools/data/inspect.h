// A schema for a file that nobody described: its form, its columns, its target, and a report of
// these.
#ifndef WINDHOVER_TOOLS_DATA_INSPECT_H_
#define WINDHOVER_TOOLS_DATA_INSPECT_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/tools/data/column_facts.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// What the user says about a file; the rest is detected.
struct InspectOptions {
  std::string target;  // name, or number counted from 1
  std::optional<char> separator = std::nullopt;
  std::optional<bool> header = std::nullopt;
  std::optional<char> decimal = std::nullopt;
  std::optional<std::string> positive = std::nullopt;  // the target's text that means 1
  std::optional<OffsetRule> offset = std::nullopt;     // its column is not a feature
  std::optional<std::string> weight = std::nullopt;    // its column is not a feature
  std::optional<std::string> trials = std::nullopt;    // of the target; its column is not a feature
  std::string model = {};                              // empty: any for the target
  bool skip_missing = false;                           // leaves out rows with an empty cell
  std::vector<std::string> missing_texts = {};
  std::vector<std::string> leave_out = {};   // columns
  std::vector<std::string> categories = {};  // columns of numbers to take as categories
  std::vector<std::string> splines = {};     // columns of numbers to take as curves
  std::vector<std::pair<std::string, std::string>> interactions = {};  // columns multiplied
  std::optional<Reads> dates = std::nullopt;
  std::uint32_t most_categories = 50;  // per column; all others count as one
};

// The result for one column.
struct ColumnReport {
  std::string name;
  std::string reads_as;
  std::size_t features = 0;
  std::uint64_t missing = 0;  // cells
  std::string note;
};

struct Inspection {
  Schema schema;  // complete
  std::string target_note;
  std::string target_hint;            // in target_note: what else the target may be; or empty
  std::vector<ColumnReport> columns;  // all but the target, in file order; then interactions
  ColumnFacts target;
};

// Reads the file three to five times. Memory does not grow with its rows, only with its categories.
// UserError names what cannot be read, the place, and what to type instead.
Inspection inspect(const std::string& path, const InspectOptions& options);

// Changes the inspection for `model`, with a target of its kind. `hint` is added to the note on the
// target. REQUIRES: the target is a number that the model takes.
void take_model(Inspection& inspection, std::string_view model, const std::string& hint);

// The names of the file's columns.
std::vector<std::string> columns_of(const std::string& path, const InspectOptions& options);

nlohmann::ordered_json to_json(const Inspection& inspection);
// to_json() as a table, each line beginning with `prefix`.
std::string describe_file(const nlohmann::ordered_json& file, const std::string& prefix);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_H_
