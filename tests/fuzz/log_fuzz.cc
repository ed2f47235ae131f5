// Bytes as a log on disk: the reader and the writer come to an end, give nothing that is not there,
// and agree on where the log ends; what is written after it can be read. A case is one byte, then
// pieces: segment, block, length (two bytes), and what stands at that block's begin.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "windhover/io/durable/log_reader.h"
#include "windhover/io/durable/log_writer.h"
#include "windhover/tests/fuzz/driver.h"
#include "windhover/tests/io/durable/recording_folder.h"

namespace windhover::testing {
namespace {

constexpr std::size_t kSegments = 3;
constexpr std::size_t kBlocks = 2;  // a segment, and the largest commit
constexpr LogIdentity kFuzzed{
    .instance = 7,
    .salt = 11,
    .options = {kSegments * kBlocks * kLogBlock, kBlocks* kLogBlock, kBlocks* kLogBlock}};
constexpr std::size_t kMemory = 4 * kBlocks * kLogBlock;
alignas(Arena::kAlignment) std::array<std::byte, kMemory> reader_memory;
alignas(Arena::kAlignment) std::array<std::byte, kMemory> writer_memory;

std::string name_of(std::size_t segment) { return SegmentName(segment).text.data(); }

void make_log(Folder& folder) {
  std::array<std::byte, kLogBlock> scratch;
  require(ok(LogWriter::create(folder, kFuzzed, false, scratch).status));
}

// Checksums are made good again, so that damage gets past them.
void seal(std::span<std::byte> block) {
  const auto number = [&](std::size_t i) { return load_number(&block[8 * i]); };
  CommitHeader header{number(3), number(4), number(5), number(6), number(7), 0};
  const auto room = block.subspan(kCommitHeaderBytes);
  header.body_checksum =
      body_checksum(kFuzzed, room.first(std::min<std::uint64_t>(header.body_bytes, room.size())));
  encode(header, kFuzzed, block);
}

// The use that a block's commit is of, where it says that it lies at `offset`; UINT64_MAX: none.
std::uint64_t use_at(std::span<const std::byte> segment, std::uint64_t offset) {
  CommitHeader header;
  const bool commit = decode(segment.subspan(offset), kFuzzed, header) && header.offset == offset;
  return commit ? header.ordinal : UINT64_MAX;
}

// Whether a writer can have left this. Behind the first commit of a use lie commits of that use or
// of earlier ones. Behind a stamp (a use of number 0) lie those of earlier uses than the newest
// that any segment begins with: numbers from there on are given again.
template <class Segments>
bool plausible(const Segments& segments) {
  std::uint64_t newest = 0;
  for (const auto& segment : segments) {
    const std::uint64_t first = use_at(segment, 0);
    if (first != UINT64_MAX) newest = std::max(newest, first);
  }
  return std::all_of(segments.begin(), segments.end(), [&](const auto& segment) {
    const std::uint64_t first = use_at(segment, 0);
    const std::uint64_t second = use_at(segment, kLogBlock);
    if (first == UINT64_MAX || second == UINT64_MAX) return true;
    return second <= (first == 0 ? newest : first);
  });
}

struct Read {
  Status status;
  std::uint64_t end;
};

Read read_all(Folder& folder) {
  Arena arena(reader_memory);
  Result<LogReader> opened = LogReader::open(folder, 0, arena);
  if (!opened.ok()) return {opened.status(), 0};
  LogReader& reader = opened.value();
  LoggedFrame frame;
  std::span<const std::byte> payload;
  std::uint64_t sum = 0;
  for (std::uint64_t n = 0;; ++n) {
    const Status status = reader.next(frame, payload);
    if (!ok(status)) {
      require(reader.next(frame, payload) == status && sum != UINT64_MAX);
      return {status, n};
    }
    require(frame.number == n);
    require(payload.data() >= reader_memory.data() &&
            payload.data() + payload.size() <= reader_memory.data() + kMemory);
    for (const std::byte b : payload) sum += std::to_integer<std::uint64_t>(b);
  }
}

// Whether one more frame was written.
bool write_one(Folder& folder, const Read& before) {
  Arena arena(writer_memory);
  Result<LogWriter> opened = LogWriter::open(folder, arena);
  // What can be read to its end can be gone on with.
  require(opened.ok() || before.status != Status::kClosed);
  if (!opened.ok()) return false;
  LogWriter& writer = opened.value();
  if (before.status == Status::kClosed) require(writer.next_frame() == before.end);
  LoggedFrame frame;
  frame.number = writer.next_frame();
  frame.head = writer.durable_head();
  std::span<std::byte> room;
  require(ok(writer.add(frame, 5, room)) && room.size() == 5);
  std::fill(room.begin(), room.end(), std::byte{9});
  const bool written = ok(writer.commit());
  require(written == (writer.durable_frames() == frame.number + 1));
  return written;
}

}  // namespace

std::string make_case(std::mt19937_64& random) {
  RecordingFolder folder;
  make_log(folder);
  std::string bytes(1, static_cast<char>(random()));
  Arena arena(writer_memory);
  LogWriter writer = LogWriter::open(folder, arena).value();
  for (std::uint64_t commits = random() % 6; commits > 0; --commits) {
    for (std::uint64_t frames = 1 + random() % 3; frames > 0; --frames) {
      LoggedFrame frame{writer.next_frame(), random() % 3, random(), 0, random() % 9, 0, 0};
      std::span<std::byte> room;
      if (!ok(writer.add(frame, random() % (random() % 8 == 0 ? 3000 : 60), room))) continue;
      for (std::byte& b : room) b = static_cast<std::byte>(random());
    }
    (void)writer.commit();
  }
  for (std::size_t s = 0; s < kSegments; ++s) {
    const RecordingFolder::Bytes segment = folder.contents(name_of(s));
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const auto block = std::span(segment).subspan(b * kLogBlock);
      if (!looks_like_commit(block)) continue;
      const std::size_t length = kCommitHeaderBytes + load_number(&block[56]);
      for (const std::size_t number : {s, b, length % 256, length / 256}) {
        bytes.push_back(static_cast<char>(number));
      }
      bytes.append(reinterpret_cast<const char*>(block.data()), length);
    }
  }
  return bytes;
}

}  // namespace windhover::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace windhover;
  using namespace windhover::testing;
  static RecordingFolder empty;
  static const bool kMade = (make_log(empty), true);
  require(kMade);
  RecordingFolder folder;
  folder.set_contents("identity", empty.contents("identity"));
  std::array<RecordingFolder::Bytes, kSegments> segments;
  for (std::size_t s = 0; s < kSegments; ++s) segments[s] = empty.contents(name_of(s));
  auto rest = std::as_bytes(std::span(data, size));
  const bool seals = !rest.empty() && (rest[0] & std::byte{1}) != std::byte{0};
  rest = rest.subspan(std::min<std::size_t>(rest.size(), 1));
  while (rest.size() >= 4) {
    const auto number = [&](std::size_t i) { return std::to_integer<std::size_t>(rest[i]); };
    const auto segment = std::span(segments[number(0) % kSegments]);
    const auto at = segment.subspan(number(1) % kBlocks * kLogBlock);
    const std::size_t length = std::min({number(2) + 256 * number(3), at.size(), rest.size() - 4});
    std::copy_n(rest.begin() + 4, length, at.begin());
    if (seals) seal(at);
    rest = rest.subspan(4 + length);
  }
  for (std::size_t s = 0; s < kSegments; ++s) folder.set_contents(name_of(s), segments[s]);
  const Read before = read_all(folder);
  const bool whole = write_one(folder, before) && before.status == Status::kClosed;
  if (whole && plausible(segments)) {
    const Read after = read_all(folder);
    require(after.status == Status::kClosed && after.end == before.end + 1);
  }
  return 0;
}
