// A data folder of windhoverd, read and never written; a daemon may be at work in it.
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

// What is in it changes while a daemon is at work: a checkpoint that was listed may be gone when it
// is opened. One thread.
class KeptFolder {
 public:
  // UserError: no folder, or nothing in it that windhoverd keeps. RunError: it cannot be read.
  explicit KeptFolder(const std::string& path);

  const std::string& path() const { return path_; }
  Folder& folder() { return folder_; }

  // Rising: the newest last.
  std::vector<std::uint64_t> checkpoints();
  static std::string checkpoint_name(std::uint64_t number);
  // Like CheckpointReader, they read header and end alone, or every byte, or the reader verifies
  // what it reads. These two use a buffer of this object, so that one is read at a time.
  Result<CheckpointFacts> peek(std::uint64_t number);
  Result<CheckpointReader> open(std::uint64_t number);
  Result<CheckpointReader> open_unverified(std::uint64_t number);

  // The log's identity; nothing where there is none. RunError: it cannot be read, or a segment is
  // missing. `remarks`, where given, are told of segments whose identity is not there.
  std::optional<LogIdentity> log_identity(std::vector<std::string>* remarks = nullptr);

  // "FOLDER: what", with the error's sentence and, of a call of the system, its reason.
  std::string sentence(const std::string& what, const Error& error) const;

 private:
  void demand_segments(const LogIdentity& identity);

  std::string path_;
  PosixFolder folder_;
  std::vector<std::byte> buffer_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_KEPT_KEPT_FOLDER_H_
