// Messages of a server as the structures of the client library.
#ifndef WINDHOVER_IO_CLIENT_REPLIES_H_
#define WINDHOVER_IO_CLIENT_REPLIES_H_

#include "windhover/io/windhover.pb.h"
#include "windhover/runtime/diagnostics/event_log.h"
#include "windhover/runtime/prediction/predictive.h"

namespace windhover {

// A coverage or conformal field that the message lacks is NaN.
Provenance provenance_of(const v1::Provenance& message);
Event event_of(const v1::Event& message);
PredictiveSummary summary_of(const v1::Prediction& message);

}  // namespace windhover

#endif  // WINDHOVER_IO_CLIENT_REPLIES_H_
