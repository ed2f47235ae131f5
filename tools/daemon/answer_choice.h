// Which model answers for a model, kept over restarts in a file in the model's folder.
#ifndef WINDHOVER_TOOLS_DAEMON_ANSWER_CHOICE_H_
#define WINDHOVER_TOOLS_DAEMON_ANSWER_CHOICE_H_

#include <string>
#include <string_view>

#include "windhover/tools/daemon/whole_file.h"

namespace windhover {

// One thread. No heap call after the constructor.
class AnswerChoice {
 public:
  // `folder`: that of the model, which exists; empty: nothing is kept.
  explicit AnswerChoice(const std::string& folder);

  // The name that was kept last; empty: none.
  static std::string kept_in(const std::string& folder);

  // Replaces what is there, whole or not at all, and returns when it is on disk. 0, or an errno.
  int keep(std::string_view name) noexcept;

 private:
  WholeFile file_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_ANSWER_CHOICE_H_
