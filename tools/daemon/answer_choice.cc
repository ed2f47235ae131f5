#include "windhover/tools/daemon/answer_choice.h"

#include <fstream>

namespace windhover {
namespace {

constexpr const char* kChoiceFile = "answered_by";

}  // namespace

AnswerChoice::AnswerChoice(const std::string& folder) : file_(folder, kChoiceFile) {}

std::string AnswerChoice::kept_in(const std::string& folder) {
  std::ifstream file(WholeFile(folder, kChoiceFile).path());
  std::string name;
  std::getline(file, name);
  return name;
}

int AnswerChoice::keep(std::string_view name) noexcept { return file_.write(name); }

}  // namespace windhover
