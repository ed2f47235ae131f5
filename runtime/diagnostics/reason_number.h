// The number behind a status, by its name.
#ifndef WINDHOVER_RUNTIME_DIAGNOSTICS_REASON_NUMBER_H_
#define WINDHOVER_RUNTIME_DIAGNOSTICS_REASON_NUMBER_H_

#include <limits>

#include "windhover/runtime/posterior/provenance.h"

namespace windhover {

// A number of Provenance and its name; null and NaN: there is none.
struct ReasonNumber {
  const char* name = nullptr;
  double value = std::numeric_limits<double>::quiet_NaN();
};

// The name of the field of Provenance that `reason` is about; null: there is none.
const char* number_name(StatusReason reason) noexcept;
// The number that p.reason is about.
ReasonNumber number_behind(const Provenance& p) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_DIAGNOSTICS_REASON_NUMBER_H_
