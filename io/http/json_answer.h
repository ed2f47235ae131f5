// Responses of windhover.proto as answers in JSON, and requests as frames.
#ifndef WINDHOVER_IO_HTTP_JSON_ANSWER_H_
#define WINDHOVER_IO_HTTP_JSON_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "windhover/io/http/http_types.h"
#include "windhover/io/served_model.h"
#include "windhover/io/windhover.pb.h"

namespace windhover {

// The answer for a response, which is given as a frame with its length prefix.
HttpAnswer json_answer_of(std::span<const std::byte> frame);
// The same; a refusal says which field of the request is wrong, and how. An acknowledgement of rows
// has refused_field and refused_error beside refused_row.
HttpAnswer json_answer_of(std::span<const std::byte> frame, const v1::Request& request,
                          const ServedModel& model);
// A refusal with its number, a sentence for people, and the field, if it is known.
HttpAnswer json_refusal(v1::Reason reason, std::uint64_t number, std::string_view sentence,
                        std::string_view field = {});
// The request as a frame, with its length prefix.
std::string frame_of(const v1::Request& request);

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_JSON_ANSWER_H_
