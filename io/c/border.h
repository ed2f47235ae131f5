// Between C and C++: checks and fills structs, translates questions and answers.
#ifndef WINDHOVER_IO_C_BORDER_H_
#define WINDHOVER_IO_C_BORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "windhover/io/c/types.h"
#include "windhover/runtime/diagnostics/event_log.h"
#include "windhover/runtime/observation.h"
#include "windhover/runtime/prediction/predictive.h"

namespace windhover {

// The numbers of C are those of Status; two of its own lie above them (types.cc proves it).
constexpr windhover_status to_c(Status status) noexcept {
  return static_cast<windhover_status>(status);
}

// Whether the caller's struct was initialized by its init function, for this library or an earlier
// one. `first`: the struct's size in the first library that had it.
template <class T>
windhover_status check_given(const T* given, std::size_t first = sizeof(T)) noexcept {
  if (given == nullptr || given->struct_size < first) return WINDHOVER_INVALID_ARGUMENT;
  return given->struct_size <= sizeof(T) ? WINDHOVER_OK : WINDHOVER_UNSUPPORTED;
}

// The sentence for a struct that check_given() refused with `status`.
constexpr const char* sentence_of_given(windhover_status status) noexcept {
  return status == WINDHOVER_UNSUPPORTED
             ? "options.struct_size is of a later windhover.h than this library: load that library"
             : "options.struct_size must be as the init function of the options set it";
}

// Writes as much of `value` as the caller's struct holds; struct_size stays as it is.
template <class T>
void give(const T& value, T* to) noexcept {
  const std::size_t size = std::min(to->struct_size, sizeof(T));
  std::memcpy(reinterpret_cast<std::byte*>(to) + sizeof(std::size_t),
              reinterpret_cast<const std::byte*>(&value) + sizeof(std::size_t),
              size - sizeof(std::size_t));
}

// The work of an init function: writes the defaults as far as the caller's struct holds them, and 0
// behind them. With a size smaller than `first`, that of the first library, every call refuses the
// struct.
template <class T>
void begin(const T& defaults, T* to, std::size_t size, std::size_t first = sizeof(T)) noexcept {
  if (to == nullptr) return;
  if (size < first) size = 0;
  std::memset(static_cast<void*>(to), 0, std::max(size, sizeof(std::size_t)));
  to->struct_size = size;
  if (size > 0) give(defaults, to);
}

// Checks a pointer to results, which may be NULL. `first`: the smallest size that they ever had.
template <class T>
windhover_status check_wanted(const T* wanted, std::size_t first = sizeof(T)) noexcept {
  if (wanted == nullptr) return WINDHOVER_OK;
  return wanted->struct_size < first ? WINDHOVER_INVALID_ARGUMENT : WINDHOVER_OK;
}

// Checks that the arrays exist for which there are counts.
windhover_status check_rows(const windhover_rows* rows) noexcept;
// Checks that the question's arrays exist, a summary holds as much as it asks for, and the answer's
// structs can be written. `classes`: the model's, 0 if it has no probabilities of classes.
windhover_status check_question(const windhover_question* question, const windhover_answer* answer,
                                std::size_t classes) noexcept;

// The functions below refer to the caller's memory. REQUIRES: it was checked.
// Null also where the caller's struct is from before this member; likewise weights_of(),
// trials_of().
template <class T>
const double* offsets_of(const T& given) noexcept {
  return given.struct_size >= offsetof(T, offsets) + sizeof(given.offsets) ? given.offsets
                                                                           : nullptr;
}

// Whether a question has keys.
bool has_keys(const windhover_question& question) noexcept;
// Puts `count` keys of C into `room`; NULL is an empty key.
std::span<const std::string_view> keys_of(const char* const* keys, std::size_t count,
                                          std::string_view* room) noexcept;

inline const double* weights_of(const windhover_rows& rows) noexcept {
  constexpr std::size_t kEnd = offsetof(windhover_rows, weights) + sizeof(rows.weights);
  return rows.struct_size >= kEnd ? rows.weights : nullptr;
}

template <class T>
const double* trials_of(const T& given) noexcept {
  return given.struct_size >= offsetof(T, trials) + sizeof(given.trials) ? given.trials : nullptr;
}

ObservationBatch batch_of(const windhover_rows& rows) noexcept;
PredictRequest request_of(const windhover_question& question) noexcept;

void give_answer(const windhover_question& question, std::span<const PredictiveSummary> summaries,
                 const Provenance& provenance, const windhover_answer& answer) noexcept;
void give_provenance(const Provenance& provenance, windhover_provenance* to) noexcept;

// Checks that there is room for events of `event_size` bytes each.
windhover_status check_events(const windhover_event* to, std::size_t event_size, std::size_t room,
                              const std::size_t* count) noexcept;
// Gives the newest events, as many as there is room for.
void give_events(std::span<const Event> events, windhover_event* to, std::size_t event_size,
                 std::size_t room, std::size_t& count) noexcept;

// Checks that there is room for `count` parameters of `parameter_size` bytes each, of which this
// library fills as much as it knows.
windhover_status check_parameters(const windhover_parameter* to, std::size_t parameter_size,
                                  std::size_t room, std::size_t count) noexcept;
void give_parameters(std::span<const ParameterSummary> summaries, windhover_parameter* to,
                     std::size_t parameter_size) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_C_BORDER_H_
