// libwindhover.so, loaded at run time: building the module needs only its headers, and a later
// library with the same ABI can take its place.
#ifndef WINDHOVER_IO_PYTHON_NATIVE_LIBRARY_H_
#define WINDHOVER_IO_PYTHON_NATIVE_LIBRARY_H_

#include <string>

#include "windhover/io/c/engine.h"

namespace windhover::python {

// The functions of io/c/engine.h that the module calls. Invariant: none is null. The library is
// never unloaded.
struct Library {
  // Loads the shared library of this path or name. std::runtime_error: it cannot be loaded, or
  // lacks one of the functions.
  explicit Library(const std::string& path);

#define WINDHOVER_FUNCTIONS(F)       \
  F(windhover_status_text)           \
  F(windhover_reason_text)           \
  F(windhover_rows_init)             \
  F(windhover_question_init)         \
  F(windhover_answer_init)           \
  F(windhover_provenance_init)       \
  F(windhover_joined_init)           \
  F(windhover_engine_options_init)   \
  F(windhover_engine_footprint)      \
  F(windhover_engine_create)         \
  F(windhover_engine_destroy)        \
  F(windhover_engine_dimension)      \
  F(windhover_engine_head)           \
  F(windhover_engine_observe_rows)   \
  F(windhover_engine_outcomes)       \
  F(windhover_engine_settle_labels)  \
  F(windhover_engine_pending_labels) \
  F(windhover_engine_poll)           \
  F(windhover_engine_start)          \
  F(windhover_engine_stop)           \
  F(windhover_engine_pause)          \
  F(windhover_engine_save)           \
  F(windhover_engine_restore)        \
  F(windhover_reader_create)         \
  F(windhover_reader_destroy)        \
  F(windhover_reader_predict)        \
  F(windhover_reader_posterior)      \
  F(windhover_reader_events)         \
  F(windhover_reader_draws)          \
  F(windhover_reader_release)

#define WINDHOVER_MEMBER(name) decltype(&::name) name;
  WINDHOVER_FUNCTIONS(WINDHOVER_MEMBER)
#undef WINDHOVER_MEMBER
};

}  // namespace windhover::python

#endif  // WINDHOVER_IO_PYTHON_NATIVE_LIBRARY_H_
