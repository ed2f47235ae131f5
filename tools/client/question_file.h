// A file of questions, answered line by line.
#ifndef WINDHOVER_TOOLS_CLIENT_QUESTION_FILE_H_
#define WINDHOVER_TOOLS_CLIENT_QUESTION_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "windhover/io/client.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

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
// before, and its status: in place of columns with these names, which are answers of before. A row
// that cannot be read gets no line and is said by its line's number. Memory does not grow with the
// file; of a live pipe a question is answered as soon as none waits behind it. UserError for a file
// that cannot be read on; RunError when the server is gone.
QuestionReport answer_questions(Client& client, const Schema& schema, const QuestionFile& file);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_QUESTION_FILE_H_
