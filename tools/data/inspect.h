// A schema for a file that nobody described: how it is cut into cells, what each column is, what
// the target is, and all of it said.
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

// What the user says of a file; the rest is found out.
struct InspectOptions {
  std::string target;  // name, or number counted from 1
  std::optional<char> separator = std::nullopt;
  std::optional<bool> header = std::nullopt;
  std::optional<char> decimal = std::nullopt;
  std::optional<std::string> positive = std::nullopt;  // the target's text that means 1
  std::optional<OffsetRule> offset = std::nullopt;     // its column is no feature
  std::optional<std::string> weight = std::nullopt;    // likewise
  std::optional<std::string> trials = std::nullopt;    // likewise: how many the target is of
  std::string model = {};                              // empty: any for the target
  bool skip_missing = false;                           // rows with an empty cell are left out
  std::vector<std::string> missing_texts = {};
  std::vector<std::string> leave_out = {};   // columns
  std::vector<std::string> categories = {};  // columns that are categories though they are numbers
  std::vector<std::string> splines = {};     // columns of numbers that are to be curves
  std::vector<std::pair<std::string, std::string>> interactions = {};  // columns multiplied
  std::optional<Reads> dates = std::nullopt;
  std::uint32_t most_categories = 50;  // in a column; the others are taken as one
};

// What was done to one column.
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
  std::string target_hint;            // in it: what else the target may be; may be empty
  std::vector<ColumnReport> columns;  // all but the target, in the order of the file
  ColumnFacts target;
};

// Reads the file four times, in memory that does not grow with its rows but for the categories.
// UserError names what cannot be read, the place, and what to type instead.
Inspection inspect(const std::string& path, const InspectOptions& options);

// The same for `model`, with a target of its kind. `hint` is added to what is said of the target.
// REQUIRES: the target is a number that the model takes.
void take_model(Inspection& inspection, std::string_view model, const std::string& hint);

// The names of the file's columns.
std::vector<std::string> columns_of(const std::string& path, const InspectOptions& options);

nlohmann::ordered_json to_json(const Inspection& inspection);
// What to_json() says as a table for people, each line begun with `prefix`.
std::string describe_file(const nlohmann::ordered_json& file, const std::string& prefix);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_H_
