// Bytes as a checkpoint's file: it is refused, or its body is read to the end and not further.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "windhover/io/durable/checkpoint_store.h"
#include "windhover/io/durable/log_format.h"
#include "windhover/tests/fuzz/driver.h"
#include "windhover/tests/io/durable/recording_folder.h"

namespace windhover::testing {
namespace {

constexpr const char* kName = "checkpoint-000000000001";
constexpr std::size_t kAround = 64 + 24;  // header and trailer

}  // namespace

// A byte that says whether the checksum is made good again, and the file.
std::string make_case(std::mt19937_64& random) {
  std::array<std::byte, kMinCheckpointBuffer> buffer;
  RecordingFolder folder;
  CheckpointStore store = CheckpointStore::open(folder, buffer).value();
  require(ok(store.begin({random(), random() % 100, random() % 100, random(), 0, 0})));
  std::vector<std::byte> body(random() % (random() % 8 == 0 ? 10'000 : 200));
  for (std::byte& b : body) b = static_cast<std::byte>(random());
  require(ok(store.sink().write(body)) && ok(store.finish()));
  const RecordingFolder::Bytes file = folder.contents(kName);
  std::string bytes(1, static_cast<char>(random()));
  bytes.append(reinterpret_cast<const char*>(file.data()), file.size());
  return bytes;
}

}  // namespace windhover::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace windhover;
  using namespace windhover::testing;
  const auto all = std::as_bytes(std::span(data, size));
  if (all.empty()) return 0;
  RecordingFolder::Bytes file(all.begin() + 1, all.end());
  if ((all[0] & std::byte{1}) != std::byte{0} && file.size() >= 8) {
    store_number(&file[file.size() - 8], checksum(std::span(file).first(file.size() - 8)));
  }
  RecordingFolder folder;
  folder.set_contents(kName, file);
  std::array<std::byte, kMinCheckpointBuffer> buffer;
  CheckpointStore store = CheckpointStore::open(folder, buffer).value();
  Result<CheckpointReader> opened = store.open_newest();
  outcome = opened.ok() ? Outcome::kGood : Outcome::kRefused;
  if (opened.ok()) {
    CheckpointReader& reader = opened.value();
    require(reader.facts().body_bytes == file.size() - kAround);
    std::vector<std::byte> body(file.size() - kAround);
    for (std::size_t at = 0, piece = 1; at < body.size(); at += piece, piece = piece * 3) {
      piece = std::min(piece, body.size() - at);
      require(ok(reader.read(std::span(body).subspan(at, piece))));
    }
    require(std::equal(body.begin(), body.end(), file.begin() + 64));
    std::byte more{};
    require(reader.read(std::span(&more, 1)) == Status::kClosed);
  } else {
    require(!ok(store.entries()[0].why.status));
  }
  // A good one after it, whatever it was.
  require(ok(store.begin({})) && ok(store.finish()) && store.open_newest().ok());
  return 0;
}
