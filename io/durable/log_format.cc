#include "windhover/io/durable/log_format.h"

#include <algorithm>

#include "windhover/platform/checksum.h"

namespace windhover {
namespace {

// "WHLOGCMT" and "WHLOGID1" as they stand on disk.
constexpr std::uint64_t kCommitMagic = 0x544d43474f4c4857;
constexpr std::uint64_t kIdentityMagic = 0x314449474f4c4857;
constexpr const char* kIdentityName = "identity";
constexpr const char* kNewIdentityName = "identity.new";
constexpr std::string_view kSegmentPrefix = "segment-";

// Write and read numbers one after another.
class NumberWriter {
 public:
  explicit NumberWriter(std::byte* to) noexcept : to_(to) {}
  template <class... T>
  void put(T... numbers) noexcept {
    ((store_number(to_, numbers), to_ += 8), ...);
  }

 private:
  std::byte* to_;
};

class NumberReader {
 public:
  explicit NumberReader(const std::byte* from) noexcept : from_(from) {}
  template <class... T>
  void take(T&... numbers) noexcept {
    ((numbers = load_number(from_), from_ += 8), ...);
  }

 private:
  const std::byte* from_;
};

// A checksum with the salt, so that bytes that a producer sent cannot pass for a header.
std::uint64_t salted(std::uint64_t salt, std::span<const std::byte> bytes) noexcept {
  std::array<std::byte, 8> salt_bytes;
  store_number(salt_bytes.data(), salt);
  Checksum sum;
  sum.update(salt_bytes);
  sum.update(bytes);
  return sum.value();
}

}  // namespace

void encode(const CommitHeader& header, const LogIdentity& identity,
            std::span<std::byte> to) noexcept {
  NumberWriter(to.data()).put(kCommitMagic, kLogVersion, identity.instance, header.ordinal,
                              header.offset, header.first_frame, header.frames, header.body_bytes,
                              header.body_checksum);
  constexpr std::size_t kChecked = kCommitHeaderBytes - 8;
  store_number(to.data() + kChecked, salted(identity.salt, to.first(kChecked)));
}

bool decode(std::span<const std::byte> from, const LogIdentity& identity,
            CommitHeader& header) noexcept {
  if (from.size() < kCommitHeaderBytes) return false;
  std::uint64_t magic = 0;
  std::uint64_t version = 0;
  std::uint64_t instance = 0;
  std::uint64_t check = 0;
  CommitHeader h;
  NumberReader(from.data())
      .take(magic, version, instance, h.ordinal, h.offset, h.first_frame, h.frames, h.body_bytes,
            h.body_checksum, check);
  if (magic != kCommitMagic || version != kLogVersion || instance != identity.instance ||
      check != salted(identity.salt, from.first(kCommitHeaderBytes - 8))) {
    return false;
  }
  const LogOptions& options = identity.options;
  constexpr std::uint64_t kHalf = UINT64_MAX / 2;  // so that numbers which rise never overflow
  if (h.ordinal > kHalf || h.first_frame > kHalf) return false;
  if (h.offset % kLogBlock != 0 || h.body_bytes > options.commit_bytes - kCommitHeaderBytes ||
      h.offset > options.segment_bytes || h.bytes() > options.segment_bytes - h.offset ||
      h.frames > h.body_bytes / kRecordHeaderBytes) {
    return false;
  }
  header = h;
  return true;
}

std::uint64_t body_checksum(const LogIdentity& identity, std::span<const std::byte> body) noexcept {
  return salted(identity.salt, body);
}

void encode(const LoggedFrame& frame, std::uint64_t payload_bytes, std::byte* to) noexcept {
  NumberWriter(to).put(frame.producer, frame.next, frame.accepted, frame.refused, frame.duplicate,
                       frame.head, payload_bytes);
}

bool take_record(std::span<const std::byte>& rest, LoggedFrame& frame,
                 std::span<const std::byte>& payload) noexcept {
  if (rest.size() < kRecordHeaderBytes) return false;
  std::uint64_t bytes = 0;
  NumberReader(rest.data())
      .take(frame.producer, frame.next, frame.accepted, frame.refused, frame.duplicate, frame.head,
            bytes);
  if (bytes > rest.size() - kRecordHeaderBytes || record_bytes(bytes) > rest.size()) return false;
  payload = rest.subspan(kRecordHeaderBytes, bytes);
  rest = rest.subspan(record_bytes(bytes));
  return true;
}

bool looks_like_commit(std::span<const std::byte> block) noexcept {
  return block.size() >= kCommitHeaderBytes && load_number(block.data()) == kCommitMagic &&
         load_number(block.data() + 24) != 0;
}

Result<LogIdentity> read_identity(Folder& folder, LogState& state) noexcept {
  Result<File> opened =
      File::open(folder, kIdentityName, OpenFile::kRead, "the log's identity cannot be opened");
  if (!opened.ok()) return opened.error();
  File file = std::move(opened).value();
  std::array<std::byte, kIdentityBytes> bytes;
  switch (file.read(0, bytes)) {
    case Status::kOk:
      break;
    case Status::kClosed:
      return Error{Status::kMalformed, "the log's identity is shorter than it should be", 0};
    default:
      return error_of(-file.error_number(), "the log's identity cannot be read");
  }
  std::uint64_t magic = 0;
  std::uint64_t version = 0;
  std::uint64_t state_number = 0;
  std::uint64_t sum = 0;
  LogIdentity identity;
  LogOptions& options = identity.options;
  NumberReader(bytes.data())
      .take(magic, version, state_number, identity.instance, identity.salt, identity.first_frame,
            identity.first_head, options.bytes, options.segment_bytes, options.commit_bytes, sum);
  if (magic != kIdentityMagic || sum != checksum(std::span(bytes).first(80))) {
    return Error{Status::kMalformed, "the log's identity is damaged", 0};
  }
  if (version != kLogVersion) {
    return Error{Status::kUnsupported, "the log is of a version that this program does not read",
                 static_cast<double>(version)};
  }
  if (const Error wrong = check(options);
      !ok(wrong.status) || state_number < 1 || state_number > 2) {
    return Error{Status::kMalformed, "the log's identity holds impossible sizes", wrong.number};
  }
  state = static_cast<LogState>(state_number);
  return identity;
}

Error write_identity(Folder& folder, const LogIdentity& identity, LogState state) noexcept {
  std::array<std::byte, kIdentityBytes> bytes{};
  const LogOptions& options = identity.options;
  NumberWriter(bytes.data())
      .put(kIdentityMagic, kLogVersion, static_cast<std::uint64_t>(state), identity.instance,
           identity.salt, identity.first_frame, identity.first_head, options.bytes,
           options.segment_bytes, options.commit_bytes);
  store_number(bytes.data() + 80, checksum(std::span(bytes).first(80)));
  {
    Result<File> opened = File::open(folder, kNewIdentityName, OpenFile::kCreate,
                                     "a new identity for the log cannot be made");
    if (!opened.ok()) return opened.error();
    File file = std::move(opened).value();
    if (!ok(file.write(0, bytes)) || !ok(file.sync())) {
      return error_of(-file.error_number(), "the log's new identity cannot be written");
    }
  }
  std::int64_t result = folder.rename_file(kNewIdentityName, kIdentityName);
  if (result >= 0) result = folder.sync_folder();
  if (result < 0) return error_of(result, "the log's new identity cannot take the old one's place");
  return {};
}

Result<LogIdentity> read_log_identity(Folder& folder) noexcept {
  LogState state{};
  Result<LogIdentity> identity = read_identity(folder, state);
  if (identity.ok() && state != LogState::kReady) {
    return Error{Status::kUnavailable, "the log's creation was not finished", 0};
  }
  return identity;
}

Error check(const LogOptions& options) noexcept {
  const auto refuse = [](const char* sentence, std::uint64_t number) {
    return Error{Status::kInvalidConfig, sentence, static_cast<double>(number)};
  };
  if (options.segment_bytes == 0 || options.segment_bytes % kLogBlock != 0) {
    return refuse("segment_bytes must be a multiple of 4096", options.segment_bytes);
  }
  if (options.commit_bytes < 2 * kLogBlock || options.commit_bytes % kLogBlock != 0) {
    return refuse("commit_bytes must be a multiple of 4096, and at least 8192",
                  options.commit_bytes);
  }
  if (options.commit_bytes > options.segment_bytes) {
    return refuse("commit_bytes must not be larger than segment_bytes", options.commit_bytes);
  }
  if (options.bytes % options.segment_bytes != 0) {
    return refuse("log_bytes must be a multiple of segment_bytes", options.bytes);
  }
  const std::uint64_t segments = options.bytes / options.segment_bytes;
  if (segments < 3 || segments > kMaxLogSegments) {
    return refuse("log_bytes must be 3 to 512 times segment_bytes", options.bytes);
  }
  // Offsets are signed to the system.
  if (options.segment_bytes > (1ULL << 40)) {
    return refuse("segment_bytes must not be larger than 1 TiB", options.segment_bytes);
  }
  return {};
}

bool is_log_file(std::string_view name) noexcept {
  return name == kIdentityName || name == kNewIdentityName || name.starts_with(kSegmentPrefix);
}

SegmentName::SegmentName(std::size_t index) noexcept : text{} {
  constexpr std::size_t kDigits = 4;
  std::ranges::copy(kSegmentPrefix, text.begin());
  for (std::size_t i = kDigits; i > 0; --i) {
    text[kSegmentPrefix.size() + i - 1] = static_cast<char>('0' + index % 10);
    index /= 10;
  }
}

}  // namespace windhover
