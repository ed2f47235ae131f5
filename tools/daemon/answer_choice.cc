#include "windhover/tools/daemon/answer_choice.h"

namespace windhover {
namespace {

constexpr const char* kChoiceFile = "answered_by";

}  // namespace

AnswerChoice::AnswerChoice(const std::string& folder) : file_(folder, kChoiceFile) {}

std::string AnswerChoice::kept_in(const std::string& folder) {
  std::string text;
  (void)read_whole(WholeFile(folder, kChoiceFile).path(), text);
  return text.substr(0, text.find('\n'));
}

int AnswerChoice::keep(std::string_view name) noexcept { return file_.write(name); }

}  // namespace windhover
