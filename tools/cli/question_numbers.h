// Questions given as numbers.
#ifndef WINDHOVER_TOOLS_CLI_QUESTION_NUMBERS_H_
#define WINDHOVER_TOOLS_CLI_QUESTION_NUMBERS_H_

#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tools/client/questions.h"

namespace windhover {

// Rows from texts such as "1,2.5,nan", one text a row. A server of sparse rows is sent what is not
// 0 of them. "nan": the row lacks that feature, where the server's schema allows it. UserError for
// what is no number, a count other than the model's features, and nan in a sparse row.
QuestionRows from_vectors(const std::vector<std::string>& vectors, const v1::Welcome& welcome);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_QUESTION_NUMBERS_H_
