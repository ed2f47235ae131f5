// The bytes of the log on disk: little-endian numbers of 64 bits throughout. README.md draws them.
#ifndef WINDHOVER_IO_DURABLE_LOG_FORMAT_H_
#define WINDHOVER_IO_DURABLE_LOG_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "windhover/io/durable/log_options.h"

namespace windhover {

inline constexpr std::uint64_t kLogVersion = 1;
inline constexpr std::size_t kCommitHeaderBytes = 80;
inline constexpr std::size_t kRecordHeaderBytes = 56;
inline constexpr std::size_t kIdentityBytes = 96;

// Eight little-endian bytes as a number, on any machine. Compilers make one move of it.
inline std::uint64_t load_number(const std::byte* from) noexcept {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < 8; ++i) number |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return number;
}
inline void store_number(std::byte* to, std::uint64_t number) noexcept {
  for (unsigned i = 0; i < 8; ++i) to[i] = static_cast<std::byte>(number >> (8 * i));
}

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t multiple) noexcept {
  return (bytes + multiple - 1) / multiple * multiple;
}

// The header before a commit's records. It says where it belongs, so that a commit left by an older
// use of the segment is never taken for a new one.
struct CommitHeader {
  std::uint64_t ordinal = 0;  // which use of the segment, rising; 0: the stamp of an empty segment
  std::uint64_t offset = 0;   // in the segment
  std::uint64_t first_frame = 0;
  std::uint64_t frames = 0;      // 0: a seal, see is_seal()
  std::uint64_t body_bytes = 0;  // records, without this header and the padding
  std::uint64_t body_checksum = 0;

  // The commit's size on disk, with header and padding.
  std::uint64_t bytes() const noexcept {
    return round_up(kCommitHeaderBytes + body_bytes, kLogBlock);
  }
  // A seal stands behind a commit, where the next one will be: all frames below first_frame were
  // durable when it was written. So bad bytes before it are damage, not an unfinished commit.
  bool is_seal() const noexcept { return ordinal != 0 && frames == 0; }
};

// `to`: at least kCommitHeaderBytes.
void encode(const CommitHeader& header, const LogIdentity& identity,
            std::span<std::byte> to) noexcept;
// False: not a header of this log, or none that this log's options allow. The body is not checked.
bool decode(std::span<const std::byte> from, const LogIdentity& identity,
            CommitHeader& header) noexcept;
std::uint64_t body_checksum(const LogIdentity& identity, std::span<const std::byte> body) noexcept;

// A record: what is known of the frame, then its payload, padded to 8 bytes.
inline std::uint64_t record_bytes(std::uint64_t payload_bytes) noexcept {
  return kRecordHeaderBytes + round_up(payload_bytes, 8);
}
// `to` has room for kRecordHeaderBytes. frame.number is not written: it follows from the commit.
void encode(const LoggedFrame& frame, std::uint64_t payload_bytes, std::byte* to) noexcept;
// Takes the first record off `rest`. False: `rest` does not hold one.
bool take_record(std::span<const std::byte>& rest, LoggedFrame& frame,
                 std::span<const std::byte>& payload) noexcept;

// Whether a block begins like a commit of any log. The stamp of an empty segment does not count.
bool looks_like_commit(std::span<const std::byte> block) noexcept;

enum class LogState : std::uint64_t { kCreating = 1, kReady = 2 };

// Reads the file `identity`, whatever its state. kUnavailable: there is no such file.
Result<LogIdentity> read_identity(Folder& folder, LogState& state) noexcept;
// Writes the file beside the old one, syncs and renames it, and syncs the folder. Returns kOk or
// why not.
Error write_identity(Folder& folder, const LogIdentity& identity, LogState state) noexcept;

// Whether a log has, or may come to have, a file of this name.
bool is_log_file(std::string_view name) noexcept;

// "segment-0007".
struct SegmentName {
  explicit SegmentName(std::size_t index) noexcept;
  std::array<char, 16> text;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOG_FORMAT_H_
