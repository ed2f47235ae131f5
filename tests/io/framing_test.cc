#include "windhover/io/framing.h"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

namespace windhover {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Framing, EmptyInputNeedsMore) { EXPECT_EQ(scan_frame({}, 100).kind, FrameScan::kNeedMore); }

TEST(Framing, WholeFrameIsFoundAndTheNextIsLeftAlone) {
  const auto bytes = bytes_of({2, 7, 8, 1, 9});
  const FrameScan scan = scan_frame(bytes, 100);
  ASSERT_EQ(scan.kind, FrameScan::kFrame);
  EXPECT_EQ(scan.consumed, 3U);
  ASSERT_EQ(scan.frame.size(), 2U);
  EXPECT_EQ(scan.frame[0], std::byte{7});
}

TEST(Framing, EmptyFrameIsAFrame) {
  const FrameScan scan = scan_frame(bytes_of({0, 5}), 100);
  ASSERT_EQ(scan.kind, FrameScan::kFrame);
  EXPECT_EQ(scan.consumed, 1U);
  EXPECT_TRUE(scan.frame.empty());
}

TEST(Framing, EveryProperPrefixNeedsMore) {
  std::vector<std::byte> bytes(302, std::byte{1});
  ASSERT_EQ(write_frame_header(300, bytes.data()), 2U);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(scan_frame(std::span(bytes).first(n), 1000).kind, FrameScan::kNeedMore) << n;
  }
  EXPECT_EQ(scan_frame(bytes, 1000).kind, FrameScan::kFrame);
}

TEST(Framing, LengthAboveTheCapIsRefusedBeforeItsBytesAreThere) {
  std::array<std::byte, kMaxFrameHeader> header{};
  const std::size_t size = write_frame_header(1001, header.data());
  const FrameScan scan = scan_frame(std::span(header).first(size), 1000);
  EXPECT_EQ(scan.kind, FrameScan::kTooLarge);
  EXPECT_EQ(scan.length, 1001U);
}

TEST(Framing, LengthAtTheCapIsAccepted) {
  std::vector<std::byte> bytes(2 + 1000);
  write_frame_header(1000, bytes.data());
  EXPECT_EQ(scan_frame(bytes, 1000).kind, FrameScan::kFrame);
}

TEST(Framing, RedundantZeroGroupsAreMalformed) {
  EXPECT_EQ(scan_frame(bytes_of({0x80, 0}), 100).kind, FrameScan::kMalformed);
  EXPECT_EQ(scan_frame(bytes_of({0x81, 0x80, 0}), 100).kind, FrameScan::kMalformed);
}

TEST(Framing, SixByteLengthIsMalformed) {
  EXPECT_EQ(scan_frame(bytes_of({0x81, 0x81, 0x81, 0x81, 0x81, 1}), 100).kind,
            FrameScan::kMalformed);
}

TEST(Framing, LengthAbove32BitsIsMalformed) {
  EXPECT_EQ(scan_frame(bytes_of({0xff, 0xff, 0xff, 0xff, 0x1f}), UINT32_MAX).kind,
            FrameScan::kMalformed);
  EXPECT_EQ(scan_frame(bytes_of({0xff, 0xff, 0xff, 0xff, 0x0f}), UINT32_MAX).kind,
            FrameScan::kNeedMore);
}

TEST(Framing, HeaderWrittenIsHeaderRead) {
  for (int bit = 0; bit < 32; ++bit) {
    for (const std::uint32_t length : {(1U << bit) - 1, 1U << bit}) {
      std::array<std::byte, kMaxFrameHeader> header{};
      const std::size_t size = write_frame_header(length, header.data());
      EXPECT_EQ(size, frame_header_size(length));
      EXPECT_EQ(scan_frame(std::span(header).first(size), UINT32_MAX).length, length);
    }
  }
}

}  // namespace
}  // namespace windhover
