// A stream of bytes falls into the same frames however it arrives, and none exceeds the cap.
#include "windhover/io/framing.h"

#include <algorithm>
#include <array>
#include <vector>

#include "windhover/tests/fuzz/driver.h"

namespace windhover::testing {
namespace {

constexpr std::uint32_t kCap = 300;

struct Frames {
  std::vector<std::size_t> sizes;
  FrameScan::Kind end = FrameScan::kNeedMore;
  std::size_t consumed = 0;
};

// Shows the scanner `step` more bytes at a time.
Frames scan_all(std::span<const std::byte> bytes, std::size_t step) {
  Frames frames;
  std::size_t shown = std::min(step, bytes.size());
  for (;;) {
    const FrameScan scan =
        scan_frame(bytes.subspan(frames.consumed, shown - frames.consumed), kCap);
    frames.end = scan.kind;
    if (scan.kind == FrameScan::kFrame) {
      require(scan.frame.size() == scan.length && scan.length <= kCap);
      require(scan.consumed == frame_header_size(scan.length) + scan.length);
      require(scan.consumed <= shown - frames.consumed);
      frames.sizes.push_back(scan.frame.size());
      frames.consumed += scan.consumed;
    } else if (scan.kind == FrameScan::kNeedMore && shown < bytes.size()) {
      shown = std::min(shown + step, bytes.size());
    } else {
      return frames;
    }
  }
}

}  // namespace

std::string make_case(std::mt19937_64& random) {
  std::string bytes;
  for (std::uint64_t frames = random() % 6; frames > 0; --frames) {
    const auto length = static_cast<std::uint32_t>(random() % (kCap + 4));
    std::array<std::byte, kMaxFrameHeader> header{};
    const std::size_t size = write_frame_header(length, header.data());
    bytes.append(reinterpret_cast<const char*>(header.data()), size);
    bytes.append(length, static_cast<char>(random()));
  }
  return bytes;
}

}  // namespace windhover::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace windhover;
  using namespace windhover::testing;
  const auto bytes = std::as_bytes(std::span(data, size));
  const Frames whole = scan_all(bytes, std::max<std::size_t>(size, 1));
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}}) {
    const Frames parts = scan_all(bytes, step);
    require(parts.sizes == whole.sizes && parts.end == whole.end &&
            parts.consumed == whole.consumed);
  }
  return 0;
}
