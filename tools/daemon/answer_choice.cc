#include "windhover/tools/daemon/answer_choice.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

namespace windhover {
namespace {

constexpr const char* kChoiceFile = "/answered_by";

int sync(int descriptor) noexcept {
  const int failed = descriptor < 0 || ::fsync(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  return failed;
}

}  // namespace

AnswerChoice::AnswerChoice(const std::string& folder)
    : folder_(folder), path_(folder + kChoiceFile), new_path_(path_ + ".new") {}

std::string AnswerChoice::kept_in(const std::string& folder) {
  std::ifstream file(folder + kChoiceFile);
  std::string name;
  std::getline(file, name);
  return name;
}

int AnswerChoice::keep(std::string_view name) noexcept {
  if (folder_.empty()) return 0;
  const int file = ::open(new_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  if (::write(file, name.data(), name.size()) != static_cast<ssize_t>(name.size())) {
    const int why = errno != 0 ? errno : EIO;
    ::close(file);
    return why;
  }
  if (const int why = sync(file); why != 0) return why;
  if (std::rename(new_path_.c_str(), path_.c_str()) != 0) return errno;
  return sync(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace windhover
