// Reads the fields of a frame one after the other.
#ifndef WINDHOVER_IO_WIRE_WALKER_H_
#define WINDHOVER_IO_WIRE_WALKER_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <google/protobuf/io/coded_stream.h>

#include "windhover/io/messages.h"
#include "windhover/io/wire_fields.h"

namespace windhover {

// Walks one frame. Every function returns false when the bytes are malformed. Lengths are checked
// against the enclosing message before they are used, because CodedInputStream would clip them.
class WireWalker {
 public:
  explicit WireWalker(std::span<const std::byte> frame) noexcept
      : base_(frame.data()),
        in_(reinterpret_cast<const std::uint8_t*>(frame.data()), static_cast<int>(frame.size())) {
    in_.PushLimit(static_cast<int>(frame.size()));
  }

  bool at_end() noexcept { return in_.BytesUntilLimit() <= 0; }

  // A call for each field would be a tenth of what a small frame costs.
  [[gnu::always_inline]] bool tag(std::uint32_t& field, std::uint32_t& wire) noexcept {
    std::uint32_t value = 0;
    if (!varint32(value)) return false;
    field = value >> 3;
    wire = value & 7;
    return field != 0;
  }

  bool u64(std::uint32_t wire, std::uint64_t& value) noexcept {
    return wire == kVarint && in_.ReadVarint64(&value);
  }

  bool u32(std::uint32_t wire, std::uint32_t& value) noexcept {
    std::uint64_t wide = 0;
    if (!u64(wire, wide) || wide > UINT32_MAX) return false;
    value = static_cast<std::uint32_t>(wide);
    return true;
  }

  bool fixed64(std::uint32_t wire, std::uint64_t& value) noexcept {
    return wire == kFixed64 && in_.ReadLittleEndian64(&value);
  }

  // An array may be given once and only packed: then its bytes are the array.
  bool packed(std::uint32_t wire, std::size_t element, PackedArray& array) noexcept {
    int length = 0;
    if (wire != kLengthDelimited || array.data != nullptr || !size(length)) return false;
    if (static_cast<std::size_t>(length) % element != 0) return false;
    array.data = base_ + in_.CurrentPosition();
    array.count = static_cast<std::size_t>(length) / element;
    return in_.Skip(length);
  }

  // Text must be ASCII, which is always valid UTF-8: other characters are malformed.
  bool ascii(std::uint32_t wire, std::string_view& text) noexcept {
    int length = 0;
    if (wire != kLengthDelimited || !size(length)) return false;
    text = {reinterpret_cast<const char*>(base_ + in_.CurrentPosition()),
            static_cast<std::size_t>(length)};
    return in_.Skip(length) &&
           std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 128; });
  }

  template <class Fields>
  bool message(std::uint32_t wire, Fields&& fields) noexcept {
    int length = 0;
    if (wire != kLengthDelimited || !size(length)) return false;
    const auto outer = in_.PushLimit(length);
    while (!at_end()) {
      std::uint32_t field = 0;
      std::uint32_t inner = 0;
      if (!tag(field, inner) || !fields(field, inner)) return false;
    }
    in_.PopLimit(outer);
    return true;
  }

  // Groups nest without a length, so they are refused.
  bool skip(std::uint32_t wire) noexcept {
    std::uint64_t ignored = 0;
    int length = 0;
    switch (wire) {
      case kVarint:
        return in_.ReadVarint64(&ignored);
      case kFixed64:
        return in_.BytesUntilLimit() >= 8 && in_.Skip(8);
      case kFixed32:
        return in_.BytesUntilLimit() >= 4 && in_.Skip(4);
      case kLengthDelimited:
        return size(length) && in_.Skip(length);
      default:
        return false;
    }
  }

 private:
  enum Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

  // Tags and lengths: generated parsers stop after five bytes, CodedInputStream after ten.
  bool varint32(std::uint32_t& value) noexcept {
    const int begin = in_.CurrentPosition();
    std::uint64_t wide = 0;
    if (!in_.ReadVarint64(&wide) || wide > UINT32_MAX || in_.CurrentPosition() - begin > 5) {
      return false;
    }
    value = static_cast<std::uint32_t>(wide);
    return true;
  }

  bool size(int& length) noexcept {
    std::uint32_t value = 0;
    if (!varint32(value) || value > INT32_MAX) return false;
    length = static_cast<int>(value);
    return length <= in_.BytesUntilLimit();
  }

  const std::byte* base_;
  google::protobuf::io::CodedInputStream in_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_WIRE_WALKER_H_
