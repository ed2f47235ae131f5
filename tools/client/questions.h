// Questions in the form that a server takes, and what-ifs from the command line.
#ifndef WINDHOVER_TOOLS_CLIENT_QUESTIONS_H_
#define WINDHOVER_TOOLS_CLIENT_QUESTIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// The rows of one request.
struct QuestionRows {
  std::size_t rows = 0;
  std::vector<double> features;
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> row_ends;  // for sparse rows
  std::vector<double> offsets;          // empty: the schema has none
  std::vector<double> trials;           // likewise

  void add(const EncodedRow& row, const Schema& schema);
  void clear();
  // The request then refers to this object.
  void put_into(PredictRequest& request) const;
};

struct WhatIf {
  std::map<std::string, std::string> fields;
  std::string label;  // "origin=ORD, hour=21": the fields that are given several times
};

// The questions that texts "NAME=VALUE" ask. A field given several times takes each of its values
// in turn, and several such fields are combined in every way, the first one varying slowest.
// UserError for another form, for a value given twice, and for more than `most` questions.
std::vector<WhatIf> what_ifs(const std::vector<std::string>& set, std::size_t most);

// A note about a category that the schema does not list, and which one may have been meant.
std::string unlisted_text(const Schema& schema, std::string_view field, std::string_view value);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_QUESTIONS_H_
