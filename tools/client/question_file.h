// A file of questions, answered row by row.
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
  // Called with the place of a row that cannot be read and what is wrong with it.
  std::function<void(const std::string&)> on_skipped;
  // Called with a category that the schema does not list, which is answered as any other: field,
  // value, and the line where it appears first.
  std::function<void(const std::string&)> on_unlisted;
  // Called with lines of CSV, the header first.
  std::function<void(std::string_view)> on_lines;
};

struct QuestionReport {
  std::uint64_t answered = 0;
  std::uint64_t skipped = 0;
  std::uint64_t unlisted = 0;  // rows with a category that the schema does not list
  Provenance provenance;       // of the last answers
};

// Answers the questions of a CSV file. Each gets a line with the cells of the file, in its order
// and with its separator, then the numbers of the answer, named as in JSON with "answer_" before,
// and its status. Columns of the file with these names are left out. A row that cannot be read gets
// no line; on_skipped is told. Memory does not grow with the file. In a live pipe a question is
// answered as soon as no other waits behind it. UserError where the file cannot be read on;
// RunError where the server is gone.
QuestionReport answer_questions(Client& client, const Schema& schema, const QuestionFile& file);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_QUESTION_FILE_H_
