// Saves and restores an engine through functions of the caller.
#include "windhover/io/c/border.h"
#include "windhover/io/c/engine.h"
#include "windhover/io/c/engine_handle.h"

namespace windhover {
namespace {

struct FunctionSink final : Sink {
  FunctionSink(windhover_write_function f, void* c) noexcept : function(f), context(c) {}
  Status write(std::span<const std::byte> bytes) noexcept override {
    return function(context, bytes.data(), bytes.size()) == 0 ? Status::kOk : Status::kIoError;
  }
  windhover_write_function function;
  void* context;
};

struct FunctionSource final : Source {
  FunctionSource(windhover_read_function f, void* c) noexcept : function(f), context(c) {}
  Status read(std::span<std::byte> bytes) noexcept override {
    return function(context, bytes.data(), bytes.size()) == 0 ? Status::kOk : Status::kClosed;
  }
  windhover_read_function function;
  void* context;
};

}  // namespace
}  // namespace windhover

using windhover::explain;
using windhover::to_c;

windhover_status windhover_engine_save(windhover_engine* engine, windhover_write_function write,
                                       void* context) {
  if (engine == nullptr || write == nullptr) return WINDHOVER_INVALID_ARGUMENT;
  if (engine->running) return WINDHOVER_UNAVAILABLE;
  windhover::FunctionSink sink(write, context);
  return to_c(engine->engine->state().save(sink));
}

windhover_status windhover_engine_restore(windhover_engine* engine, windhover_read_function read,
                                          void* context, windhover_error* error) {
  if (error != nullptr) *error = {"", 0};
  if (engine == nullptr || read == nullptr) {
    return explain(error, WINDHOVER_INVALID_ARGUMENT, "engine and read must not be NULL");
  }
  if (engine->running) return explain(error, WINDHOVER_UNAVAILABLE, "the engine must be stopped");
  const std::uint32_t readers = engine->engine->config().max_readers;
  for (std::uint32_t i = 0; i < readers; ++i) {
    if (!engine->readers[i].keeps) continue;
    return explain(error, WINDHOVER_UNAVAILABLE,
                   "a reader keeps draws; windhover_reader_release() it");
  }
  windhover::FunctionSource source(read, context);
  const auto restored = engine->engine->state().restore(source);
  return restored.ok() ? WINDHOVER_OK : explain(error, restored.error());
}
