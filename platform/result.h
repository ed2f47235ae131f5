#ifndef WINDHOVER_PLATFORM_RESULT_H_
#define WINDHOVER_PLATFORM_RESULT_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "windhover/platform/check.h"
#include "windhover/platform/status.h"

namespace windhover {

// Why a set-up call refused. `sentence` is static text that names the field and what is allowed;
// `number` is the value that helps: the bytes needed, the limit, the value that was refused.
struct Error {
  Status status = Status::kOk;
  const char* sentence = "";
  double number = 0.0;
  bool is_errno = false;  // that is what `number` is
};

// The errno of an error, or 0 where its number is something else.
constexpr int errno_of(const Error& error) noexcept {
  return error.is_errno ? static_cast<int>(error.number) : 0;
}

// What a set-up call returns: a value or an Error, stored inline; no allocation, no exceptions.
// Hot functions return a Status instead.
template <class T>
class [[nodiscard]] Result {
  static_assert(std::is_nothrow_move_constructible_v<T>);
  static_assert(!std::is_same_v<T, Error>);

 public:
  // Implicit, so that a function can end in `return value;` or `return Error{...};`.
  Result(T value) noexcept : value_(std::move(value)) {}

  // REQUIRES: error.status is not kOk.
  Result(const Error& error) noexcept : error_(error) {
    WINDHOVER_CHECK(!windhover::ok(error.status));
  }

  bool ok() const noexcept { return value_.has_value(); }

  // kOk when there is a value.
  Status status() const noexcept { return error_.status; }

  // REQUIRES: ok().
  const T& value() const& noexcept {
    WINDHOVER_CHECK(ok());
    return *value_;
  }
  T& value() & noexcept {
    WINDHOVER_CHECK(ok());
    return *value_;
  }
  T&& value() && noexcept {
    WINDHOVER_CHECK(ok());
    return std::move(*value_);
  }

  // {kOk, "", 0} when there is a value.
  const Error& error() const noexcept { return error_; }

 private:
  std::optional<T> value_;
  Error error_;
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_RESULT_H_
