#include "windhover/io/http/json_api.h"

#include <algorithm>
#include <charconv>

#include <google/protobuf/util/json_util.h>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/io/http/json_fault.h"
#include "windhover/io/keys.h"
#include "windhover/io/model_directory.h"
#include "windhover/io/reply_buffer.h"

namespace windhover {
namespace {

namespace json = google::protobuf::util;

bool says_json(std::string_view content_type) noexcept {
  constexpr std::string_view kType = "application/json";
  if (!content_type.starts_with(kType)) return false;
  content_type.remove_prefix(kType.size());
  return content_type.empty() || content_type.front() == ';' || content_type.front() == ' ';
}

// Empty text leaves `number` as it is. False: the text is no such number.
template <class Number>
bool read_number(std::string_view text, Number& number) noexcept {
  if (text.empty()) return true;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

}  // namespace

JsonApi::JsonApi(HttpMemory& memory, ServerState& state) noexcept
    : memory_(memory), state_(state), conversation_(memory.conversations->context) {}

HttpAnswer JsonApi::hello(const HttpRequest& request) {
  v1::Request question;
  question.mutable_hello()->set_version_min(kProtocolVersion);
  question.mutable_hello()->set_version_max(kProtocolVersion);
  const std::string_view name = memory_.conversations->models[request.model].model->name();
  question.mutable_hello()->set_model(name.data(), name.size());
  const std::string frame = frame_of(question);
  ReplyBuffer replies(memory_.reply);
  conversation_.begin(Credential::of_host());
  conversation_.handle(std::as_bytes(std::span(frame)), replies);
  return json_answer_of(replies.pending());
}

HttpAnswer JsonApi::models(const HttpRequest& request) {
  std::uint32_t number = 0;
  if (!read_number(query_value(request.query, "first"), number)) {
    return http_error(400, "first is a whole number from 0 on");
  }
  v1::Request question;
  question.mutable_list_models()->set_first(number);
  return ask(question, request);
}

HttpAnswer JsonApi::change_model(const HttpRequest& request) {
  v1::Request question;
  HttpAnswer answer;
  if (!read(request, *question.mutable_change_model(), answer)) return answer;
  return ask(question, request);
}

HttpAnswer JsonApi::host_model(const HttpRequest& request) {
  v1::Request question;
  HttpAnswer answer;
  if (!read(request, *question.mutable_host_model(), answer)) return answer;
  return ask(question, request);
}

HttpAnswer JsonApi::predict(const HttpRequest& request) {
  v1::Request question;
  HttpAnswer answer;
  if (!read(request, *question.mutable_predict(), answer)) return answer;
  const ModelLimits& limits = memory_.conversations->models[request.model].model->limits;
  if (question.predict().keys_size() > 0) {
    // Rows asked about with keys are learned from later.
    const bool observes = state_.access == nullptr ||
                          state_.access->on_model(request.who, request.model).has(Role::kObserve);
    if (!observes) {
      state_.counters.add(IoCounter::kNotPermitted);
      return http_error(403, "a question with keys takes the role observe beside query");
    }
    if (limits.pending_keys == 0)
      return json_refusal(v1::REASON_KEY_NOT_TAKEN, 0, kNoKeys, "/keys");
    if (!are_keys(question.predict().keys())) return http_error(400, kNoKey, "/keys");
  }
  answer = ask(question, request);
  if (answer.status != 400) return answer;
  const JsonFault width = width_fault(question.predict(), limits);
  if (width.sentence.empty()) return answer;
  return json_refusal(v1::REASON_WRONG_DIMENSION, limits.features, width.sentence, width.field);
}

HttpAnswer JsonApi::posterior(const HttpRequest& request) {
  v1::Request question;
  question.mutable_posterior_summary();
  return ask(question, request);
}

HttpAnswer JsonApi::draws(const HttpRequest& request) {
  v1::Request question;
  HttpAnswer answer;
  if (!read(request, *question.mutable_draws(), answer)) return answer;
  return ask(question, request);
}

HttpAnswer JsonApi::status(const HttpRequest& request) {
  v1::Request question;
  question.mutable_status();
  return ask(question, request);
}

HttpAnswer JsonApi::events(const HttpRequest& request) {
  std::uint64_t after = 0;
  if (!read_number(query_value(request.query, "after"), after)) {
    return http_error(400, "after is a whole number from 0 on");
  }
  v1::Request question;
  question.mutable_list_events()->set_after(after);
  return ask(question, request);
}

HttpAnswer JsonApi::schema(const HttpRequest& request) {
  const std::string_view text = memory_.conversations->models[request.model].model->schema_json;
  if (text.empty()) return http_error(404, "the server was not told what this model's columns are");
  HttpAnswer answer;
  answer.body = text;
  return answer;
}

HttpAnswer JsonApi::checkpoint(const HttpRequest& request) {
  v1::Request question;
  HttpAnswer answer;
  if (!read(request, *question.mutable_take_checkpoint(), answer)) return answer;
  return ask(question, request);
}

HttpAnswer JsonApi::observe(const HttpRequest& request) {
  v1::Request question;
  HttpAnswer answer;
  if (!read(request, *question.mutable_observe(), answer)) return answer;
  return relay(question, request);
}

HttpAnswer JsonApi::outcome(const HttpRequest& request) {
  v1::Request question;
  HttpAnswer answer;
  if (!read(request, *question.mutable_outcome(), answer)) return answer;
  if (question.outcome().keys_size() != question.outcome().targets_size()) {
    return http_error(400, "there is one target a key", "/targets");
  }
  if (memory_.conversations->models[request.model].model->limits.pending_keys == 0) {
    return json_refusal(v1::REASON_KEY_NOT_TAKEN, 0, kNoKeys, "/keys");
  }
  if (!are_keys(question.outcome().keys())) return http_error(400, kNoKey, "/keys");
  return relay(question, request);
}

HttpAnswer JsonApi::producer(const HttpRequest& request) {
  const std::string_view text = request.path.substr(kProducerPath.size());
  std::uint64_t number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number == 0) {
    return http_error(400, "a producer is a whole number from 1 on");
  }
  v1::Request question;
  question.mutable_producer_status()->set_producer(number);
  return relay(question, request);
}

// JSON must be declared: a page of another site can send text to this port, but not as JSON.
bool JsonApi::read(const HttpRequest& request, google::protobuf::Message& body,
                   HttpAnswer& answer) {
  if (!says_json(request.content_type)) {
    answer =
        http_error(415, "Content-Type: application/json is expected; curl says so with --json");
    return false;
  }
  if (request.body.empty()) return true;
  const auto parsed = json::JsonStringToMessage(
      google::protobuf::StringPiece(request.body.data(), request.body.size()), &body,
      json::JsonParseOptions());
  if (parsed.ok()) return true;
  answer = http_error(400, "the body is no " + body.GetDescriptor()->name() + " in JSON: " +
                               std::string(parsed.message().data(), parsed.message().size()));
  return false;
}

bool JsonApi::check(const HttpRequest& request, const v1::Request& question,
                    const std::string& bytes, RequestView& view, HttpAnswer& answer) {
  if (bytes.size() > state_.limits.frame_cap) {
    answer = http_error(413, "the question is larger than frame_cap, " +
                                 std::to_string(state_.limits.frame_cap) + " bytes in binary");
    return false;
  }
  if (ok(decode_request(std::as_bytes(std::span(bytes)), view))) return true;
  JsonFault fault = contradiction_in(question);
  if (request.body.find("null") != std::string_view::npos) {
    fault.sentence +=
        "; null is left out of an array: a sparse row leaves out what it lacks, with its index";
  }
  answer = http_error(400, fault.sentence, fault.field);
  return false;
}

HttpAnswer JsonApi::ask(const v1::Request& question, const HttpRequest& request) {
  const std::string bytes = question.SerializeAsString();
  RequestView view;
  HttpAnswer answer;
  if (!check(request, question, bytes, view, answer)) return answer;
  const ConversationContext& context = memory_.conversations->context;
  ModelContext& about = context.models[request.model];
  if (about_models(view.kind)) {
    PeerRights rights;
    rights.begin(state_.access, request.who);
    return json_answer_of(
        memory_.reply.first(answer_about_models(view, context, rights, about, memory_.reply)));
  }
  QueryHandler& queries = context.handler(about, view.kind);
  const auto written = queries.answer(view, *about.model, request.asker, memory_.reply);
  answer = json_answer_of(memory_.reply.first(written.bytes), question, *about.model);
  answer.cost_ns = queries.cost(view);
  return answer;
}

// Refuses here what would end the connection to the observe endpoint, which all requests share.
HttpAnswer JsonApi::relay(v1::Request& question, const HttpRequest& request) {
  question.set_id(1);
  RequestView view;
  HttpAnswer answer;
  if (check(request, question, question.SerializeAsString(), view, answer)) {
    answer.relay = {frame_of(question), request.model};
  }
  return answer;
}

}  // namespace windhover
