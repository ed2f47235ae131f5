// Bytes to requests and responses to bytes, without a generated class and without allocation.
//
// Reading is strict: what windhover.proto calls malformed is refused before anything is used.
// Whatever this reader accepts, a generated parser accepts too and reads the same
// (tests/io/codec_read_test.cc, tests/fuzz/codec_fuzz.cc).
#ifndef WINDHOVER_IO_CODEC_H_
#define WINDHOVER_IO_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/io/messages.h"
#include "windhover/io/replies.h"
#include "windhover/platform/status.h"

namespace windhover {

// Reads one frame (without its length prefix). kOk, or kMalformed; the id is filled in if it was
// met. Arrays in `request` point into `frame`. An Observe or Predict whose arrays contradict its
// number of rows is malformed; whether the rows fit the model is for the engine to check. O(fields
// + bytes of text): arrays are not looked into. Any thread.
Status decode_request(std::span<const std::byte> frame, RequestView& request) noexcept;

// Writes the texts of a field that decode_request() has met to `out`, keys.count of them in their
// order. They point into the frame, which must still be there. O(fields + bytes of text).
void read_keys(const KeyList& keys, int field, std::span<std::string_view> out) noexcept;

// Each writes one response with its length prefix to the beginning of `out` and returns the bytes
// written; 0, and nothing written, when they do not fit.
std::size_t encode(std::uint64_t id, const WelcomeReply& reply, std::span<std::byte> out) noexcept;
// The acknowledgement of an Outcome is written as OutcomeResult.
std::size_t encode(const ObserveAckReply& reply, std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const PredictReply& reply, std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const PosteriorReply& reply,
                   std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const DrawsReply& reply, std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const StatusReply& reply, std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const ProducerStatusReply& reply,
                   std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const TakeCheckpointReply& reply,
                   std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const ListModelsReply& reply,
                   std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const ListEventsReply& reply,
                   std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const ChangeModelReply& reply,
                   std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const HostModelReply& reply,
                   std::span<std::byte> out) noexcept;
std::size_t encode(std::uint64_t id, const RefusalReply& reply, std::span<std::byte> out) noexcept;

// No response of these shapes is larger, prefix included.
std::size_t predict_reply_bound(std::size_t rows, std::size_t quantiles, std::size_t thresholds,
                                std::size_t classes) noexcept;
std::size_t posterior_reply_bound(std::size_t dimension) noexcept;
std::size_t draws_reply_bound(std::size_t dimension, std::size_t draws) noexcept;
inline constexpr std::size_t kSmallReplyBound = 2048;   // a reply of any other shape
inline constexpr std::size_t kStatusReplyBound = 8192;  // Status and the lists

}  // namespace windhover

#endif  // WINDHOVER_IO_CODEC_H_
