#ifndef WINDHOVER_IO_DURABLE_ERROR_TEXT_H_
#define WINDHOVER_IO_DURABLE_ERROR_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "windhover/platform/result.h"

namespace windhover {

// The sentence of an error with its number where that says something: what the checkpoint has
// instead, a version, bytes, a value that is not allowed. An errno is left to who prints it.
std::string error_sentence(const Error& error);

// The same, and an errno in the system's words.
std::string error_text(const Error& error);

// An error found in what begins so many bytes into a file: the byte that it speaks of, if it does,
// is then the file's.
Error moved_by(std::uint64_t bytes, Error error) noexcept;

// Where an error of a log is: "segment-0003", of damage "segment-0003 at byte 8192". Empty for
// kNoSegment.
std::string log_place(std::size_t segment, const Error& error);

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_ERROR_TEXT_H_
