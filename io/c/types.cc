// Texts of status codes, and defaults of structs.
#include "windhover/io/c/types.h"

#include <array>

#include "windhover/io/c/border.h"
#include "windhover/platform/status.h"

namespace windhover {
namespace {

constexpr std::array kStatusTexts = {
    "ok",
    "the configuration is not allowed",
    "there is too little memory for this configuration",
    "an argument is NULL, out of its range, or a struct whose init function was not called",
    "the window is full: the learner is behind, try again later",
    "the number of values is not that of the model",
    "a number is not finite, or beyond 1e35",
    "a target is not one of the model's: 0 or 1, a class, or a count",
    "a column number is not below the number of features",
    "column numbers do not increase within a row",
    "a sparse row has more values than the model takes",
    "there are more rows or values than one call takes",
    "the parts do not belong together",
    "this is not supported here",
    "this is not permitted",
    "this is not to be had now",
    "there was no answer in time",
    "the connection is closed",
    "it is not ready yet",
    "a chain diverged",
    "a matrix is not positive definite",
    "reading or writing failed",
    "the server refused",
    "the server's log is behind, try again later",
    "the offset is not finite or too large",
    "the model's rows have no offset",
    "no keys are kept: labels_pending, how many may wait for their outcome, is 0",
    "nobody has asked with this key, or it was long ago, or before a restart",
    "the outcome came later than the key was waited for",
    "the weight is not between 1e-6 and 1e6",
    "the model counts every row once",
    "the number of trials is not a whole number of 1 to 1e9",
    "the model's rows have no trials: it is not binomial",
    "the model is binomial: each row needs the number of its trials",
};
static_assert(kStatusTexts.size() == static_cast<std::size_t>(Status::kCount));
static_assert(to_c(Status::kInvalidConfig) == WINDHOVER_INVALID_CONFIG &&
              to_c(Status::kArenaTooSmall) == WINDHOVER_ARENA_TOO_SMALL &&
              to_c(Status::kInvalidArgument) == WINDHOVER_INVALID_ARGUMENT &&
              to_c(Status::kWindowFull) == WINDHOVER_WINDOW_FULL &&
              to_c(Status::kWrongDimension) == WINDHOVER_WRONG_DIMENSION &&
              to_c(Status::kNotFinite) == WINDHOVER_NOT_FINITE &&
              to_c(Status::kTargetOutOfDomain) == WINDHOVER_TARGET_OUT_OF_DOMAIN &&
              to_c(Status::kIndexOutOfRange) == WINDHOVER_INDEX_OUT_OF_RANGE &&
              to_c(Status::kIndicesNotIncreasing) == WINDHOVER_INDICES_NOT_INCREASING &&
              to_c(Status::kTooManyNonzeros) == WINDHOVER_TOO_MANY_NONZEROS &&
              to_c(Status::kTooLarge) == WINDHOVER_TOO_LARGE &&
              to_c(Status::kMalformed) == WINDHOVER_MALFORMED &&
              to_c(Status::kUnsupported) == WINDHOVER_UNSUPPORTED &&
              to_c(Status::kNotPermitted) == WINDHOVER_NOT_PERMITTED &&
              to_c(Status::kUnavailable) == WINDHOVER_UNAVAILABLE &&
              to_c(Status::kTimeout) == WINDHOVER_TIMEOUT &&
              to_c(Status::kClosed) == WINDHOVER_CLOSED &&
              to_c(Status::kNotReady) == WINDHOVER_NOT_READY &&
              to_c(Status::kDiverged) == WINDHOVER_DIVERGED &&
              to_c(Status::kNotPositiveDefinite) == WINDHOVER_NOT_POSITIVE_DEFINITE &&
              to_c(Status::kIoError) == WINDHOVER_IO_ERROR &&
              to_c(Status::kRefused) == WINDHOVER_REFUSED &&
              to_c(Status::kLogFull) == WINDHOVER_LOG_FULL &&
              to_c(Status::kOffsetOutOfRange) == WINDHOVER_OFFSET_OUT_OF_RANGE &&
              to_c(Status::kOffsetNotTaken) == WINDHOVER_OFFSET_NOT_TAKEN &&
              to_c(Status::kKeyNotTaken) == WINDHOVER_KEY_NOT_TAKEN &&
              to_c(Status::kUnknownKey) == WINDHOVER_UNKNOWN_KEY &&
              to_c(Status::kKeyTimedOut) == WINDHOVER_KEY_TIMED_OUT &&
              to_c(Status::kWeightOutOfRange) == WINDHOVER_WEIGHT_OUT_OF_RANGE &&
              to_c(Status::kWeightNotTaken) == WINDHOVER_WEIGHT_NOT_TAKEN &&
              to_c(Status::kTrialsOutOfRange) == WINDHOVER_TRIALS_OUT_OF_RANGE &&
              to_c(Status::kTrialsNotTaken) == WINDHOVER_TRIALS_NOT_TAKEN &&
              to_c(Status::kTrialsMissing) == WINDHOVER_TRIALS_MISSING);
static_assert(static_cast<int>(Status::kCount) < WINDHOVER_NO_MEMORY);

}  // namespace
}  // namespace windhover

const char* windhover_status_text(windhover_status status) {
  if (status == WINDHOVER_NO_MEMORY) return "the system has no more memory";
  if (status == WINDHOVER_UNEXPECTED) return "the library has a fault: please report it";
  const auto index = static_cast<std::size_t>(status);
  return index < windhover::kStatusTexts.size() ? windhover::kStatusTexts[index] : "unknown status";
}

const char* windhover_version(void) { return WINDHOVER_VERSION; }

const char* windhover_posterior_status_text(windhover_posterior_status status) {
  return windhover::to_string(static_cast<windhover::PosteriorStatus>(status));
}

const char* windhover_reason_text(int reason) {
  if (reason < 0 || reason > UINT8_MAX) return "unknown";
  return windhover::to_string(static_cast<windhover::StatusReason>(reason));
}

const char* windhover_event_kind_text(int kind) {
  if (kind < 0 || kind > UINT8_MAX) return "none";
  return windhover::to_string(static_cast<windhover::EventKind>(kind));
}

void windhover_rows_init(windhover_rows* rows, size_t size) { windhover::begin({}, rows, size); }

void windhover_question_init(windhover_question* question, size_t size) {
  windhover_question defaults{};
  defaults.interval = 0.9;
  windhover::begin(defaults, question, size);
}

void windhover_answer_init(windhover_answer* answer, size_t size) {
  windhover_answer defaults{};
  windhover::begin(defaults, answer, size);
}

void windhover_joined_init(windhover_joined* joined, size_t size) {
  windhover::begin({}, joined, size);
}

void windhover_provenance_init(windhover_provenance* provenance, size_t size) {
  windhover::begin({}, provenance, size);
}
