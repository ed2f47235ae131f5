// The horizon of a model for which nobody has named one.
#ifndef WINDHOVER_RUNTIME_CHOSEN_HORIZON_H_
#define WINDHOVER_RUNTIME_CHOSEN_HORIZON_H_

#include "windhover/runtime/config.h"

namespace windhover {

// kAdaptive wherever the rest of the configuration allows it, which costs two thousandths of a nat
// a row at most where nothing moves, and follows what does (tools/evaluate/horizons.md); kWindow
// for networks, and where a kDiagonal structure could not keep a past: for numbers, and for rows
// with weights. `config.horizon` itself does not matter. Works for any configuration; does not
// allocate.
Horizon chosen_horizon(EngineConfig config) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CHOSEN_HORIZON_H_
