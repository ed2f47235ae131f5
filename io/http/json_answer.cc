#include "windhover/io/http/json_answer.h"

#include <array>
#include <cstdint>

#include <google/protobuf/util/json_util.h>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"

namespace windhover {
namespace {

namespace json = google::protobuf::util;

std::string text_of(const google::protobuf::Message& message) {
  json::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  // What the codec wrote is a message that the printer knows.
  return json::MessageToJsonString(message, &text, options).ok() ? text + "\n" : "{}\n";
}

unsigned status_of(v1::Reason reason) noexcept {
  switch (reason) {
    case v1::REASON_NOT_PERMITTED:
      return 403;
    case v1::REASON_TOO_LARGE:
      return 413;
    case v1::REASON_UNSUPPORTED:
      return 501;
    case v1::REASON_UNAVAILABLE:   // the snapshot that was paged through is gone
    case v1::REASON_SEQUENCE_GAP:  // the producer stands elsewhere
    case v1::REASON_UNKNOWN_PRODUCER:
    case v1::REASON_PRODUCER_BUSY:
      return 409;
    case v1::REASON_NOT_READY:
    case v1::REASON_TABLE_FULL:
    case v1::REASON_TOO_MANY_PRODUCERS:
      return 503;
    default:
      return 400;
  }
}

}  // namespace

HttpAnswer json_refusal(v1::Reason reason, std::uint64_t number, std::string_view sentence) {
  HttpAnswer answer = http_error(status_of(reason), "");
  answer.body = "{\"error\":" + json_string(sentence) +
                ",\"reason\":" + json_string(v1::Reason_Name(reason)) + ",\"number\":\"" +
                std::to_string(number) + "\"}\n";
  return answer;
}

HttpAnswer json_answer_of(std::span<const std::byte> frame) {
  const FrameScan scan = scan_frame(frame, UINT32_MAX);
  v1::Response response;
  if (scan.kind != FrameScan::kFrame ||
      !response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()))) {
    return http_error(500, "the answer could not be read again");
  }
  if (response.has_refusal()) {
    return json_refusal(response.refusal().reason(), response.refusal().number(),
                        "the question was refused");
  }
  const google::protobuf::Reflection& reflection = *response.GetReflection();
  const auto* arm = reflection.GetOneofFieldDescriptor(
      response, response.GetDescriptor()->FindOneofByName("body"));
  if (arm == nullptr) return http_error(500, "the answer is empty");
  HttpAnswer answer;
  answer.body = text_of(reflection.GetMessage(response, arm));
  return answer;
}

std::string frame_of(const v1::Request& request) {
  std::array<std::byte, kMaxFrameHeader> header{};
  const std::string body = request.SerializeAsString();
  const std::size_t size =
      write_frame_header(static_cast<std::uint32_t>(body.size()), header.data());
  return std::string(reinterpret_cast<const char*>(header.data()), size) + body;
}

}  // namespace windhover
