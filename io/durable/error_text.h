#ifndef WINDHOVER_IO_DURABLE_ERROR_TEXT_H_
#define WINDHOVER_IO_DURABLE_ERROR_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "windhover/platform/result.h"

namespace windhover {

// The sentence of an error, with its number where that means something: what the checkpoint has
// instead, a version, bytes, a value that is not allowed. An errno is left out.
std::string error_sentence(const Error& error);

// The same, with an errno in the system's words.
std::string error_text(const Error& error);

// Adds `bytes` to the offset in an error, if it has one: for an error found in a part of a file
// that begins there.
Error moved_by(std::uint64_t bytes, Error error) noexcept;

// Where in a log an error is: "segment-0003", or for damage "segment-0003 at byte 8192". Empty for
// kNoSegment.
std::string log_place(std::size_t segment, const Error& error);

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_ERROR_TEXT_H_
