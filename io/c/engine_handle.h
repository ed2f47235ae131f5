// The handles of an engine and its readers for C.
#ifndef WINDHOVER_IO_C_ENGINE_HANDLE_H_
#define WINDHOVER_IO_C_ENGINE_HANDLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "windhover/io/c/border.h"
#include "windhover/io/c/engine.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learner_thread.h"

namespace windhover {

// Fills in `error`, if the caller wants it, and returns the status.
inline windhover_status explain(windhover_error* error, windhover_status status,
                                const char* sentence, double number = 0) noexcept {
  if (error != nullptr) *error = {sentence, number};
  return status;
}

inline windhover_status explain(windhover_error* error, const Error& why) noexcept {
  return explain(error, to_c(why.status), why.sentence, why.number);
}

}  // namespace windhover

// Invariant: `summaries`, `parameters` and `keys` are allocated exactly while the caller has this
// reader.
struct windhover_reader {
  windhover_engine* engine = nullptr;
  std::optional<windhover::Reader> reader;
  std::atomic<bool> taken{false};
  std::atomic<bool> keeps{false};  // a snapshot, for more pages of its draws
  std::uint64_t snapshot = 0;      // the one that it keeps
  std::unique_ptr<windhover::PredictiveSummary[]> summaries;
  std::unique_ptr<windhover::ParameterSummary[]> parameters;
  std::unique_ptr<std::string_view[]> keys;
};

// Invariant: `engine` lies in `block`, and all readers that it can hand out are in `readers`.
struct windhover_engine {
  explicit windhover_engine(std::size_t bytes) noexcept : block(bytes) {}

  windhover::RealClock clock;
  windhover::MappedBlock block;
  windhover::Engine* engine = nullptr;
  std::size_t classes = 0;  // of softmax; otherwise 0
  windhover::LearnerThread learner;
  std::atomic<bool> running{false};
  std::unique_ptr<windhover_reader[]> readers;
  std::unique_ptr<std::string_view[]> keys;  // for outcomes; null without labels_pending
};

#endif  // WINDHOVER_IO_C_ENGINE_HANDLE_H_
