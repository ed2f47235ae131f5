#include "windhover/io/durable/recovery_report.h"

#include "windhover/io/durable/error_text.h"
#include "windhover/io/durable/segments.h"

namespace windhover {
namespace {

constexpr const char* kWhereDamage =
    "; windhover log verify says which rows are before it, windhover restore goes back to there";

constexpr const char* kCheckpointAlone =
    " (windhover restore --without-log makes a folder of the newest checkpoint alone, without the "
    "rows after it)";

}  // namespace

Error RecoveryReport::fail(const Error& error, const std::string& what) {
  sentence_ = path_ + ": " + what;
  if (error.sentence != nullptr && error.sentence[0] != '\0') {
    sentence_ += ": " + error_sentence(error);
  }
  // Numbers other than an errno are part of the sentence.
  return {ok(error.status) ? Status::kRefused : error.status, sentence_.c_str(),
          static_cast<double>(errno_of(error)), error.is_errno};
}

Error RecoveryReport::fail_in_log(const std::string& what, const Error& error,
                                  std::size_t segment) {
  std::string text = segment == kNoSegment ? what : what + ": " + log_place(segment, error);
  if (error.status == Status::kUnavailable) return fail_without_log(text, error);
  if (error.status != Status::kMalformed) return fail(error, text);
  return fail({error.status}, text + ": " + error_sentence(error) + kWhereDamage);
}

// The caller that shows the error puts the system's reason at its end.
Error RecoveryReport::fail_without_log(const std::string& what, const Error& error) {
  const bool is_lost = error.status == Status::kMalformed || error.status == Status::kUnavailable ||
                       error.status == Status::kRefused;
  return fail(error, is_lost ? what + kCheckpointAlone : what);
}

void RecoveryReport::add_remark(const std::string& remark) {
  if (!remarks_.empty()) remarks_ += "; ";
  remarks_ += remark;
}

}  // namespace windhover
