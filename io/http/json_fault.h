// Tells people which field of a request in JSON is the cause of its refusal, for which the
// endpoints give only a reason. The endpoints decide what is refused, not this. Allocates.
// O(numbers of the request).
#ifndef WINDHOVER_IO_HTTP_JSON_FAULT_H_
#define WINDHOVER_IO_HTTP_JSON_FAULT_H_

#include <cstdint>
#include <string>

#include "windhover/io/served_model.h"
#include "windhover/io/windhover.pb.h"

namespace windhover {

struct JsonFault {
  std::string sentence;
  std::string field;  // a JSON Pointer into the body (RFC 6901); empty: no single field
};

// Why a question about this model was refused.
JsonFault fault_of(const v1::Predict& question, v1::Reason reason, const ServedModel& model);
JsonFault fault_of(const v1::Draws& question, v1::Reason reason, const ServedModel& model);
// Why rows were refused: one row, or all with ObserveAckReply::kWholeFrame.
JsonFault fault_of(const v1::Observe& rows, std::uint32_t row, v1::Reason reason,
                   const ServedModel& model);

// A reason in words that fit any request.
const char* words_of(v1::Reason reason) noexcept;

// Which arrays of the request contradict its number of rows.
JsonFault contradiction_in(const v1::Request& request);
// How the rows of a question differ from the model's in their number of columns; no sentence: they
// do not.
JsonFault width_fault(const v1::Predict& question, const ModelLimits& limits);

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_JSON_FAULT_H_
