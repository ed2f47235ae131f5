#include "windhover/io/framing.h"

#include <algorithm>
#include <bit>

namespace windhover {

FrameScan scan_frame(std::span<const std::byte> bytes, std::uint32_t cap) noexcept {
  FrameScan scan;
  std::uint64_t length = 0;
  const std::size_t visible = std::min(bytes.size(), kMaxFrameHeader);
  std::size_t header = 0;
  for (bool complete = false; !complete; ++header) {
    if (header == visible) {
      scan.kind = visible == kMaxFrameHeader ? FrameScan::kMalformed : FrameScan::kNeedMore;
      return scan;
    }
    const auto byte = std::to_integer<std::uint64_t>(bytes[header]);
    length |= (byte & 0x7f) << (7 * header);
    complete = byte < 0x80;
    // A last group of zeros is redundant; each length has one spelling.
    if (complete && byte == 0 && header > 0) {
      scan.kind = FrameScan::kMalformed;
      return scan;
    }
  }
  if (length > UINT32_MAX) {
    scan.kind = FrameScan::kMalformed;
    return scan;
  }
  scan.length = static_cast<std::uint32_t>(length);
  if (scan.length > cap) {
    scan.kind = FrameScan::kTooLarge;
    return scan;
  }
  if (bytes.size() - header < scan.length) return scan;
  scan.kind = FrameScan::kFrame;
  scan.frame = bytes.subspan(header, scan.length);
  scan.consumed = header + scan.length;
  return scan;
}

std::size_t frame_header_size(std::uint32_t length) noexcept {
  return (static_cast<std::size_t>(std::bit_width(length | 1U)) + 6) / 7;
}

std::size_t write_frame_header(std::uint32_t length, std::byte* out) noexcept {
  std::size_t size = 0;
  for (; length >= 0x80; length >>= 7) out[size++] = static_cast<std::byte>(length | 0x80);
  out[size++] = static_cast<std::byte>(length);
  return size;
}

}  // namespace windhover
