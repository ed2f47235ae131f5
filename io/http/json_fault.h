// Finds which field of a request in JSON is to blame for its refusal, for a person: the endpoints
// give only a reason. Nothing is judged here; the endpoints decide what is refused. Allocates.
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
  std::string field;  // a JSON Pointer into the body (RFC 6901); empty: no one field
};

// Why a question about this model was refused.
JsonFault fault_of(const v1::Predict& question, v1::Reason reason, const ServedModel& model);
JsonFault fault_of(const v1::Draws& question, v1::Reason reason, const ServedModel& model);
// Why rows were refused: one row, or all with ObserveAckReply::kWholeFrame.
JsonFault fault_of(const v1::Observe& rows, std::uint32_t row, v1::Reason reason,
                   const ServedModel& model);

// A reason in words, which hold whatever the request.
const char* words_of(v1::Reason reason) noexcept;

// Which arrays of the request are not of one number of rows.
JsonFault contradiction_in(const v1::Request& request);
// How the rows of a question are not as long as the model's; no sentence: they are.
JsonFault width_fault(const v1::Predict& question, const ModelLimits& limits);

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_JSON_FAULT_H_
