// Finds one message in a byte stream: a varint length, then that many bytes.
#ifndef WINDHOVER_IO_FRAMING_H_
#define WINDHOVER_IO_FRAMING_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace windhover {

// A length prefix is at most this long.
inline constexpr std::size_t kMaxFrameHeader = 5;

struct FrameScan {
  enum Kind : std::uint8_t {
    kNeedMore,   // what is there may be the beginning of a frame
    kFrame,      // `frame` is the first one; it and its prefix take `consumed` bytes
    kMalformed,  // a bad length: more than five bytes, above 32 bits, or a redundant zero group
    kTooLarge,   // the length exceeds the cap; the bytes behind it are not waited for
  };
  Kind kind = kNeedMore;
  std::span<const std::byte> frame;  // points into the bytes given; may be empty
  std::size_t consumed = 0;
  std::uint32_t length = 0;  // kFrame, kTooLarge, and kNeedMore once the prefix is complete
};

// Looks at the beginning of `bytes`; reads the prefix alone. O(1). Any thread.
FrameScan scan_frame(std::span<const std::byte> bytes, std::uint32_t cap) noexcept;

// Writes the prefix of a frame of `length` bytes to `out` (room for kMaxFrameHeader) and returns
// its size.
std::size_t write_frame_header(std::uint32_t length, std::byte* out) noexcept;
std::size_t frame_header_size(std::uint32_t length) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_FRAMING_H_
