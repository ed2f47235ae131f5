#ifndef WINDHOVER_IO_HTTP_COUNTER_FAMILIES_H_
#define WINDHOVER_IO_HTTP_COUNTER_FAMILIES_H_

#include <span>

#include "windhover/io/counter_ids.h"
#include "windhover/io/http/http_counters.h"
#include "windhover/runtime/counter_ids.h"

namespace windhover {

// How /metrics shows one counter. Counters of one name follow each other and differ by a label.
template <class Enum>
struct CounterFamily {
  Enum counter;
  const char* name;   // without windhover_ before and _total behind it
  const char* label;  // empty: none
  const char* value;  // of the label
  const char* help;   // what the name means: with its first counter, empty for the others
};

// One for each counter, in the order of the enum.
std::span<const CounterFamily<IoCounter>> io_counter_families() noexcept;
std::span<const CounterFamily<RuntimeCounter>> runtime_counter_families() noexcept;
std::span<const CounterFamily<HttpCounter>> http_counter_families() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_COUNTER_FAMILIES_H_
