// The horizon to take where the host names none.
#ifndef WINDHOVER_RUNTIME_CHOSEN_HORIZON_H_
#define WINDHOVER_RUNTIME_CHOSEN_HORIZON_H_

#include "windhover/runtime/config.h"

namespace windhover {

// Returns kAdaptive wherever the rest of the configuration allows it: that costs two thousandths of
// a nat a row at most where nothing moves, and follows what does (tools/evaluate/horizons.md).
// kWindow for networks, and where a kDiagonal structure could not keep a past: for a y that is a
// number, and for rows with weights. `config.horizon` does not matter. Works for any configuration;
// does not allocate.
Horizon chosen_horizon(EngineConfig config) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CHOSEN_HORIZON_H_
