#include "windhover/tools/kept/log_sizes.h"

#include <fmt/format.h>

#include <algorithm>

namespace windhover {
namespace {

constexpr std::uint64_t kLargestSegment = 1ULL << 40;

std::uint64_t multiple_from(std::uint64_t number, std::uint64_t of) {
  return (number / of + (number % of == 0 ? 0 : 1)) * of;
}

std::string refuse(const char* option, const std::string& rule, std::uint64_t is,
                   std::uint64_t nearest) {
  return fmt::format("data.{} must be {}; it is {}: {} would do", option, rule, is, nearest);
}

}  // namespace

std::string contradiction(const LogOptions& log, std::uint64_t frame_cap) {
  const std::uint64_t least_commit = multiple_from(least_commit_bytes(frame_cap), kLogBlock);
  const std::uint64_t commit =
      std::clamp(log.commit_bytes, least_commit, std::max(least_commit, kLargestSegment / 2));
  if (log.commit_bytes != commit || commit % kLogBlock != 0) {
    return refuse("commit_bytes",
                  fmt::format("a multiple of {}, from {} on (8192 and twice server.frame_cap)",
                              kLogBlock, least_commit),
                  log.commit_bytes, multiple_from(commit, kLogBlock));
  }
  const std::uint64_t segment = std::clamp(log.segment_bytes, 2 * commit, kLargestSegment);
  if (log.segment_bytes != segment || segment % kLogBlock != 0) {
    return refuse("segment_bytes",
                  fmt::format("a multiple of {}, from {} (twice data.commit_bytes) to {}",
                              kLogBlock, 2 * commit, kLargestSegment),
                  log.segment_bytes, multiple_from(segment, kLogBlock));
  }
  const std::uint64_t bytes =
      std::clamp(log.bytes, kLeastServedSegments * segment, kMaxLogSegments * segment);
  if (log.bytes != bytes || bytes % segment != 0) {
    return refuse("log_bytes",
                  fmt::format("a multiple of data.segment_bytes, {}, from {} to {} times as much",
                              segment, kLeastServedSegments, kMaxLogSegments),
                  log.bytes, multiple_from(bytes, segment));
  }
  return "";
}

}  // namespace windhover
