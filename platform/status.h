#ifndef WINDHOVER_PLATFORM_STATUS_H_
#define WINDHOVER_PLATFORM_STATUS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace windhover {

// The outcome of a call, one byte. There is one list for all layers, so that a status can travel
// from the row that caused it to a counter and a reply without translation. A status carries no
// text of its own making: set-up calls add a sentence and a number (result.h).
enum class [[nodiscard]] Status : std::uint8_t{kOk = 0,
                                               kInvalidConfig,
                                               kArenaTooSmall,
                                               kInvalidArgument,
                                               kWindowFull,
                                               kWrongDimension,
                                               kNotFinite,
                                               kTargetOutOfDomain,
                                               kIndexOutOfRange,
                                               kIndicesNotIncreasing,
                                               kTooManyNonzeros,
                                               kTooLarge,
                                               kMalformed,
                                               kUnsupported,
                                               kNotPermitted,
                                               kUnavailable,
                                               kTimeout,
                                               kClosed,
                                               kNotReady,
                                               kDiverged,
                                               kNotPositiveDefinite,
                                               kIoError,
                                               kRefused,
                                               kLogFull,
                                               kOffsetOutOfRange,
                                               kOffsetNotTaken,
                                               kKeyNotTaken,
                                               kUnknownKey,
                                               kKeyTimedOut,
                                               kWeightOutOfRange,
                                               kWeightNotTaken,
                                               kTrialsOutOfRange,
                                               kTrialsNotTaken,
                                               kTrialsMissing,
                                               kCount};

inline constexpr std::array kStatusLabels = {
    "ok",
    "invalid_config",
    "arena_too_small",
    "invalid_argument",
    "window_full",
    "wrong_dimension",
    "not_finite",
    "target_out_of_domain",
    "index_out_of_range",
    "indices_not_increasing",
    "too_many_nonzeros",
    "too_large",
    "malformed",
    "unsupported",
    "not_permitted",
    "unavailable",
    "timeout",
    "closed",
    "not_ready",
    "diverged",
    "not_positive_definite",
    "io_error",
    "refused",
    "log_full",
    "offset_out_of_range",
    "offset_not_taken",
    "key_not_taken",
    "unknown_key",
    "key_timed_out",
    "weight_out_of_range",
    "weight_not_taken",
    "trials_out_of_range",
    "trials_not_taken",
    "trials_missing",
};
static_assert(kStatusLabels.size() == static_cast<std::size_t>(Status::kCount));

constexpr bool ok(Status status) noexcept { return status == Status::kOk; }

// A static, snake-case label; "unknown" for a value that is not in the list.
constexpr const char* to_string(Status status) noexcept {
  const auto index = static_cast<std::size_t>(status);
  return index < kStatusLabels.size() ? kStatusLabels[index] : "unknown";
}

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_STATUS_H_
