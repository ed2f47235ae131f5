#include "windhover/tools/daemon/new_model.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "windhover/io/durable/checkpoint_file.h"
#include "windhover/io/durable/checkpoint_store.h"
#include "windhover/io/durable/log_format.h"
#include "windhover/io/durable/persistence.h"
#include "windhover/io/durable/posix_folder.h"

namespace windhover {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnnamedEnd = ".new";
constexpr std::string_view kUnnamedList = "added.toml.new";
constexpr std::string_view kSegmentName = "segment-";
constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

// A segment without rows. All of it is read, not only where a commit would begin: a commit whose
// first byte is damaged still holds rows.
bool is_empty_segment(const fs::path& file, const std::optional<LogIdentity>& identity) {
  std::ifstream in(file, std::ios::binary);
  std::vector<std::byte> block(kPieceBytes);
  CommitHeader stamp;
  for (bool first = true; in.good(); first = false) {
    in.read(reinterpret_cast<char*>(block.data()), static_cast<std::streamsize>(block.size()));
    auto bytes = std::span<const std::byte>(block).first(static_cast<std::size_t>(in.gcount()));
    if (first && identity && decode(bytes, *identity, stamp) && stamp.ordinal == 0) {
      bytes = bytes.subspan(kCommitHeaderBytes);
    }
    if (std::ranges::any_of(bytes, [](std::byte byte) { return byte != std::byte{0}; })) {
      return false;
    }
  }
  return in.eof() && !in.bad();
}

bool is_empty_checkpoint(Folder& folder, const std::string& name) {
  if (name.ends_with(kUnnamedEnd)) return true;
  const Result<CheckpointFacts> facts = CheckpointReader::peek(folder, name.c_str());
  return facts.ok() && facts.value().head == 0;
}

}  // namespace

bool holds_more_than_a_new_model(const std::string& path) {
  std::error_code why;
  fs::directory_iterator at(path, why);
  if (why) return why != std::errc::no_such_file_or_directory;
  Result<PosixFolder> folder = PosixFolder::open(path.c_str(), false);
  if (!folder.ok()) return true;
  LogState state{};
  std::optional<LogIdentity> identity;
  if (const auto read = read_identity(folder.value(), state); read.ok()) identity = read.value();
  for (; at != fs::directory_iterator(); at.increment(why)) {
    const std::string name = at->path().filename();
    std::error_code unknown;
    if (!fs::is_regular_file(at->symlink_status(unknown)) || unknown) return true;
    if (name == kUnnamedList) continue;
    if (!Persistence::has_file(name)) return true;
    if (is_checkpoint_file(name) && !is_empty_checkpoint(folder.value(), name)) return true;
    if (name.starts_with(kSegmentName) && !is_empty_segment(at->path(), identity)) return true;
  }
  return static_cast<bool>(why);
}

}  // namespace windhover
