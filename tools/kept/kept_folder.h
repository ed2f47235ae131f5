// A data folder of windhoverd, which is read and never written.
#ifndef WINDHOVER_TOOLS_KEPT_KEPT_FOLDER_H_
#define WINDHOVER_TOOLS_KEPT_KEPT_FOLDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windhover/io/durable/checkpoint_file.h"
#include "windhover/io/durable/log_options.h"
#include "windhover/io/durable/posix_folder.h"

namespace windhover {

// A daemon may be at work in it: a checkpoint that was listed may be gone when it is opened. One
// thread.
class KeptFolder {
 public:
  // UserError: there is no folder, or nothing in it that windhoverd keeps. RunError: it cannot be
  // read.
  explicit KeptFolder(const std::string& path);

  const std::string& path() const { return path_; }
  Folder& folder() { return folder_; }

  // In increasing order, the newest last.
  std::vector<std::uint64_t> checkpoints();
  static std::string checkpoint_name(std::uint64_t number);
  // As those of CheckpointReader: peek() reads what header and length say; open() verifies every
  // byte; open_unverified() leaves that to what reads the body. The two readers share a buffer of
  // this object: one at a time.
  Result<CheckpointFacts> peek(std::uint64_t number);
  Result<CheckpointReader> open(std::uint64_t number);
  Result<CheckpointReader> open_unverified(std::uint64_t number);

  // The identity of the log; none where there is no log. RunError: it cannot be read, or a segment
  // is missing. `remarks`, unless null, gets a sentence where there are segments without an
  // identity.
  std::optional<LogIdentity> log_identity(std::vector<std::string>* remarks = nullptr);

  // "FOLDER: what: " and the error's sentence, with the system's reason where a system call failed.
  std::string sentence(const std::string& what, const Error& error) const;

 private:
  void demand_segments(const LogIdentity& identity);

  std::string path_;
  PosixFolder folder_;
  std::vector<std::byte> buffer_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_KEPT_FOLDER_H_
