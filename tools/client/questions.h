// Questions by name: what-ifs from the command line, and a file of them answered line by line.
#ifndef WINDHOVER_TOOLS_CLIENT_QUESTIONS_H_
#define WINDHOVER_TOOLS_CLIENT_QUESTIONS_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// The rows of a question in the form the server takes.
struct QuestionRows {
  std::size_t rows = 0;
  std::vector<double> features;
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> row_ends;  // of sparse rows
  std::vector<double> offsets;          // empty: the schema has none
  std::vector<double> trials;           // likewise

  void add(const EncodedRow& row, const Schema& schema);
  void clear();
  // Refers to this.
  void put_into(PredictRequest& request) const;
};

struct WhatIf {
  std::map<std::string, std::string> fields;
  std::string label;  // "origin=ORD, hour=21": the fields that are given several times
};

// The questions that "NAME=VALUE" texts ask. A field given several times takes each of its values
// in turn, and several such fields are combined every way, the first one slowest. UserError for
// another form, for a value given twice, and for more than `most` questions.
std::vector<WhatIf> what_ifs(const std::vector<std::string>& set, std::size_t most);

// What to say of a category that the schema does not list, and which one it may have meant.
std::string unlisted_text(const Schema& schema, std::string_view field, std::string_view value);

struct QuestionFile {
  std::string path;  // "-": standard input
  // What every question asks for; its rows and outcomes are not used.
  PredictRequest wanted;
  // A row that cannot be read: its place and what is wrong with it.
  std::function<void(const std::string&)> on_skipped;
  // A category that the schema does not list and that is answered as any other: field, value and
  // the line it first stands in.
  std::function<void(const std::string&)> on_unlisted;
  // Lines of CSV, the header first.
  std::function<void(std::string_view)> on_lines;
};

struct QuestionReport {
  std::uint64_t answered = 0;
  std::uint64_t skipped = 0;
  std::uint64_t unlisted = 0;  // rows with a category that the schema does not list
  Provenance provenance;       // of the last answers
};

// Answers the questions of a CSV file: for each a line with the cells of the file, in its order and
// with its separator, and behind them the numbers of the answer, named as in JSON with "answer_"
// before, and its status. A row that cannot be read gets no line and is said by its line's number.
// Memory does not grow with the file; of a live pipe a question is answered as soon as none waits
// behind it. UserError for a file that cannot be read on; RunError when the server is gone.
QuestionReport answer_questions(Client& client, const Schema& schema, const QuestionFile& file);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_QUESTIONS_H_
