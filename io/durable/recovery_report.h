// Errors and remarks about a folder from which a start begins.
#ifndef WINDHOVER_IO_DURABLE_RECOVERY_REPORT_H_
#define WINDHOVER_IO_DURABLE_RECOVERY_REPORT_H_

#include <cstddef>
#include <string>
#include <utility>

#include "windhover/platform/result.h"

namespace windhover {

// Invariant: the sentence of an error names the folder, and lives until the next error or the end
// of this object. For set-up; it allocates.
class RecoveryReport {
 public:
  explicit RecoveryReport(std::string path) : path_(std::move(path)) {}

  const std::string& path() const noexcept { return path_; }  // of the folder

  // An error: `what` went wrong, because of `error`; kRefused where that has no status.
  Error fail(const Error& error, const std::string& what);
  // The same for a segment of the log, or kNoSegment; for damage the sentence says what to type.
  Error fail_in_log(const std::string& what, const Error& error, std::size_t segment);
  // The same for a log that cannot be used at all. If it is damaged or missing, the sentence says
  // how to go on with the checkpoint alone, which loses rows. It does not if the disk or this
  // version cannot read the log, which may be good.
  Error fail_without_log(const std::string& what, const Error& error);

  // Adds a sentence for the host about something that the start could do without.
  void add_remark(const std::string& remark);
  const std::string& remarks() const noexcept { return remarks_; }

 private:
  const std::string path_;
  std::string sentence_;
  std::string remarks_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_RECOVERY_REPORT_H_
