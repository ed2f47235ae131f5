#ifndef WINDHOVER_TOOLS_ERROR_H_
#define WINDHOVER_TOOLS_ERROR_H_

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "windhover/platform/result.h"

namespace windhover {

// What a program says and then ends with exit code 2: the user's mistake, in one sentence that
// names what is wrong, the value found, and what is allowed. Only programs throw; the libraries
// below them do not.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A UserError about one row of a file: the rows behind it can be read.
class RowError : public UserError {
 public:
  using UserError::UserError;
};

// Something that is not the user's doing (the network, the disk, the other side): exit code 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A library's answer, or its sentence with the number it found, as the user's mistake.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result.ok()) {
    throw UserError(fmt::format("{} (it is {})", result.error().sentence, result.error().number));
  }
  return std::move(result).value();
}

// RunError "DOING: STATUS" where that is not kOk.
inline void require(Status status, const char* doing) {
  if (!ok(status)) throw RunError(fmt::format("{}: {}", doing, to_string(status)));
}

// Not an error: the program has said what there is to say, and ends with this exit code.
struct EndWith {
  int code = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_ERROR_H_
