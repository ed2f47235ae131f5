#include "windhover/io/http/json_answer.h"

#include <array>
#include <cstdint>

#include <google/protobuf/util/json_util.h>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/io/http/json_fault.h"

namespace windhover {
namespace {

namespace json = google::protobuf::util;

std::string json_text_of(const google::protobuf::Message& message) {
  json::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  // The printer knows every message that the codec writes.
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
    case v1::REASON_SEQUENCE_GAP:  // another sequence number is expected
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

// The two lists that only the JSON of an acknowledgement has; empty where no row was refused.
std::string refused_text(const v1::ObserveAck& ack, const v1::Request& request,
                         const ServedModel* model) {
  std::string fields;
  std::string errors;
  for (int i = 0; model != nullptr && i < ack.refused_row_size(); ++i) {
    const JsonFault fault = fault_of(request.observe(), ack.refused_row(i),
                                     static_cast<v1::Reason>(ack.refused_reason(i)), *model);
    fields += (i > 0 ? "," : "") + json_string(fault.field);
    errors += (i > 0 ? "," : "") + json_string(fault.sentence);
  }
  return ",\"refused_field\":[" + fields + "],\"refused_error\":[" + errors + "]";
}

JsonFault refused_fault(v1::Reason reason, const v1::Request& request, const ServedModel* model) {
  if (model == nullptr) return {words_of(reason), ""};
  switch (request.body_case()) {
    case v1::Request::kPredict:
      return fault_of(request.predict(), reason, *model);
    case v1::Request::kDraws:
      return fault_of(request.draws(), reason, *model);
    case v1::Request::kObserve:
      return fault_of(request.observe(), ObserveAckReply::kWholeFrame, reason, *model);
    default:
      return {words_of(reason), ""};
  }
}

// `model`: null where the request is not known.
HttpAnswer answer_of(std::span<const std::byte> frame, const v1::Request& request,
                     const ServedModel* model) {
  const FrameScan scan = scan_frame(frame, UINT32_MAX);
  v1::Response response;
  if (scan.kind != FrameScan::kFrame ||
      !response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()))) {
    return http_error(500, "the answer could not be read again");
  }
  if (response.has_refusal()) {
    const v1::Reason reason = response.refusal().reason();
    const JsonFault fault = refused_fault(reason, request, model);
    return json_refusal(reason, response.refusal().number(), fault.sentence, fault.field);
  }
  const google::protobuf::Reflection& reflection = *response.GetReflection();
  const auto* arm = reflection.GetOneofFieldDescriptor(
      response, response.GetDescriptor()->FindOneofByName("body"));
  if (arm == nullptr) return http_error(500, "the answer is empty");
  HttpAnswer answer;
  answer.body = json_text_of(reflection.GetMessage(response, arm));
  if (response.has_observe_ack()) {
    answer.body.insert(answer.body.rfind('}'),
                       refused_text(response.observe_ack(), request, model));
  }
  return answer;
}

}  // namespace

HttpAnswer json_refusal(v1::Reason reason, std::uint64_t number, std::string_view sentence,
                        std::string_view field) {
  HttpAnswer answer = http_error(status_of(reason), sentence, field);
  answer.body.insert(answer.body.rfind('}'), ",\"reason\":" + json_string(v1::Reason_Name(reason)) +
                                                 ",\"number\":\"" + std::to_string(number) + "\"");
  return answer;
}

HttpAnswer json_answer_of(std::span<const std::byte> frame) {
  return answer_of(frame, v1::Request(), nullptr);
}

HttpAnswer json_answer_of(std::span<const std::byte> frame, const v1::Request& request,
                          const ServedModel& model) {
  return answer_of(frame, request, &model);
}

std::string frame_of(const v1::Request& request) {
  std::array<std::byte, kMaxFrameHeader> header{};
  const std::string body = request.SerializeAsString();
  const std::size_t size =
      write_frame_header(static_cast<std::uint32_t>(body.size()), header.data());
  return std::string(reinterpret_cast<const char*>(header.data()), size) + body;
}

}  // namespace windhover
