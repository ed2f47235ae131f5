#include "windhover/io/durable/error_text.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "windhover/io/durable/log_format.h"
#include "windhover/io/durable/segments.h"

namespace windhover {
namespace {

constexpr std::string_view kAtByte = " at byte";

std::string number_text(double number) {
  if (number == std::floor(number) && std::abs(number) < 0x1p53) {
    return std::to_string(static_cast<std::int64_t>(number));
  }
  return std::to_string(number);
}

}  // namespace

std::string error_sentence(const Error& error) {
  constexpr std::string_view kHash = "; its hash is";  // a number that nobody can look up
  std::string text = error.sentence;
  if (error.is_errno || std::isnan(error.number)) return text;
  if (text.ends_with(kHash)) return text.substr(0, text.size() - kHash.size());
  if (text.ends_with(" is") || text.ends_with(kAtByte)) {
    return text + " " + number_text(error.number);
  }
  if (error.number == 0) return text;
  if (error.status == Status::kUnsupported) return text + ": " + number_text(error.number);
  if (error.status == Status::kArenaTooSmall) {
    return text + ": " + number_text(error.number) + " bytes";
  }
  if (error.status == Status::kInvalidConfig) return text + "; it is " + number_text(error.number);
  return text;
}

Error moved_by(std::uint64_t bytes, Error error) noexcept {
  if (std::string_view(error.sentence).ends_with(kAtByte)) {
    error.number += static_cast<double>(bytes);
  }
  return error;
}

std::string log_place(std::size_t segment, const Error& error) {
  if (segment == kNoSegment) return "";
  std::string place = SegmentName(segment).text.data();
  const bool is_byte = !std::string_view(error.sentence).ends_with(" is");
  if (error.status == Status::kMalformed && is_byte) {
    place.append(kAtByte).append(" ").append(number_text(error.number));
  }
  return place;
}

std::string error_text(const Error& error) {
  const int why = errno_of(error);
  return why == 0 ? error_sentence(error) : error_sentence(error) + ": " + std::strerror(why);
}

}  // namespace windhover
