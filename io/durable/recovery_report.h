// What is said of a folder that a start takes up.
#ifndef WINDHOVER_IO_DURABLE_RECOVERY_REPORT_H_
#define WINDHOVER_IO_DURABLE_RECOVERY_REPORT_H_

#include <cstddef>
#include <string>
#include <utility>

#include "windhover/platform/result.h"

namespace windhover {

// Invariant: the sentence of an error that it has made names the folder, and lives until the next
// one or as long as this. Set-up; it allocates.
class RecoveryReport {
 public:
  explicit RecoveryReport(std::string path) : path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }  // of the folder

  // `what` went wrong, because of `error`; kRefused where that says no status.
  Error fail(const Error& error, const std::string& what);
  // The same for a segment of the log, or kNoSegment; for damage it says what to type.
  Error fail_in_log(const std::string& what, const Error& error, std::size_t segment);
  // The same for a log that cannot be used at all. Where it is damaged or not there, it says how to
  // go on with the checkpoints, which costs rows; where the disk or an older program cannot read
  // it, the log may be good, and it does not.
  Error fail_without_log(const std::string& what, const Error& error);

  // Something that a start can do without, for the host: a sentence.
  void add_remark(const std::string& remark);
  const std::string& remarks() const noexcept { return remarks_; }

 private:
  const std::string path_;
  std::string sentence_;
  std::string remarks_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_RECOVERY_REPORT_H_
