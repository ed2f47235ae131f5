// How a checkpoint is laid out (format.md beside this).
#ifndef WINDHOVER_RUNTIME_CHECKPOINT_FORMAT_H_
#define WINDHOVER_RUNTIME_CHECKPOINT_FORMAT_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace windhover::checkpoint {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::array<char, 8> kMagic = {'w', 'h', 'v', 'r', 'c', 'k', 'p', 't'};

// The first bytes of a checkpoint of any version. Every field is little-endian, without padding.
struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kFormatVersion;
  std::uint32_t reserved = 0;
  std::uint64_t fingerprint = 0;    // Engine::fingerprint()
  std::uint64_t configuration = 0;  // hash of the fields of the section "configuration"
  std::uint64_t first = 0;          // rows [first, head) follow
  std::uint64_t head = 0;
  std::uint64_t lease = 0;     // rows that the learner had taken in
  std::uint64_t checksum = 0;  // of the bytes before it; the seed of the first section's checksum
};
static_assert(sizeof(Header) == 64 && std::is_trivially_copyable_v<Header>);

// Sections follow, each as this header, `length` bytes, and the checksum of both, seeded with the
// checksum before it. So a section that was moved, left out or taken from another checkpoint is
// found as damage.
struct SectionHeader {
  static constexpr std::size_t kNameBytes = 40;
  std::array<char, kNameBytes> name = {};  // filled up with zeros
  std::uint32_t version = 1;
  std::uint32_t reserved = 0;
  std::uint64_t length = 0;

  SectionHeader() = default;
  explicit SectionHeader(std::string_view text, std::uint32_t version_in = 1) noexcept
      : version(version_in) {
    text.copy(name.data(), kNameBytes);
  }
  bool is(std::string_view text) const noexcept {
    return std::memcmp(name.data(), SectionHeader(text).name.data(), kNameBytes) == 0;
  }
};
static_assert(sizeof(SectionHeader) == 56 && std::is_trivially_copyable_v<SectionHeader>);

// Sections come in this order: the configuration, as many of rows as are needed, the learner's as
// EngineState::visit_state shows them, the counters, as many of keys as are needed, the end.
inline constexpr std::string_view kConfiguration = "configuration";
inline constexpr std::string_view kRows = "rows";
inline constexpr std::string_view kCounters = "counters";
inline constexpr std::string_view kKeys = "keys";  // runtime/labels/saved_key.h
inline constexpr std::string_view kEnd = "end";    // holds the number of sections before it

// What a section of rows begins with; packed rows follow (runtime/window/packed_rows.h).
struct RowsHeader {
  std::uint64_t first;
  std::uint64_t count;
};

// An entry of the section "configuration".
struct FieldEntry {
  std::array<char, 32> name = {};
  std::uint64_t bits = 0;
};
static_assert(sizeof(FieldEntry) == 40);

template <class T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}
template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

}  // namespace windhover::checkpoint

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_FORMAT_H_
