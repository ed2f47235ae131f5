// Questions given as numbers.
#ifndef WINDHOVER_TOOLS_CLI_QUESTION_NUMBERS_H_
#define WINDHOVER_TOOLS_CLI_QUESTION_NUMBERS_H_

#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tools/client/questions.h"

namespace windhover {

// Rows from texts such as "1,2.5,nan", each a dense row; a server of sparse rows gets what is not 0
// in them. "nan": the row lacks that feature, where the server's schema lets it. UserError for what
// is no number, and for more or fewer of them than the server's model has features.
QuestionRows from_vectors(const std::vector<std::string>& vectors, const v1::Welcome& welcome);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_QUESTION_NUMBERS_H_
