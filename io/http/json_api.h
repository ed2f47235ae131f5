#ifndef WINDHOVER_IO_HTTP_JSON_API_H_
#define WINDHOVER_IO_HTTP_JSON_API_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "windhover/io/conversation.h"
#include "windhover/io/http/http_memory.h"
#include "windhover/io/http/http_types.h"
#include "windhover/io/http/json_answer.h"
#include "windhover/io/server_state.h"
#include "windhover/io/windhover.pb.h"

namespace windhover {

inline constexpr std::string_view kProducerPath = "/v1/producers/";  // followed by its number

// The requests of windhover.proto in Protobuf's JSON mapping, with the names of the proto; answers
// have every number, zeros too. A question goes through the same reader, handler and writer as on a
// socket, so that both refuse and answer alike. Allocates, and runs generated parsers: the bytes
// that it reads are bounded by HttpConfig::body_cap. The HTTP thread's.
class JsonApi {
 public:
  JsonApi(HttpMemory& memory, ServerState& state) noexcept;

  HttpAnswer hello(const HttpRequest& request);
  HttpAnswer models(const HttpRequest& request);
  HttpAnswer change_model(const HttpRequest& request);
  HttpAnswer host_model(const HttpRequest& request);
  HttpAnswer predict(const HttpRequest& request);
  HttpAnswer posterior(const HttpRequest& request);
  HttpAnswer draws(const HttpRequest& request);
  HttpAnswer status(const HttpRequest& request);
  HttpAnswer events(const HttpRequest& request);
  HttpAnswer schema(const HttpRequest& request);
  HttpAnswer checkpoint(const HttpRequest& request);
  // For the observe endpoint: the answer has a relay, unless it is a refusal.
  HttpAnswer observe(const HttpRequest& request);
  HttpAnswer outcome(const HttpRequest& request);
  HttpAnswer producer(const HttpRequest& request);

 private:
  // False, and `answer` says why: the body is not that message, or the question is malformed.
  bool read(const HttpRequest& request, google::protobuf::Message& body, HttpAnswer& answer);
  bool check(const HttpRequest& request, const v1::Request& question, const std::string& bytes,
             RequestView& view, HttpAnswer& answer);
  HttpAnswer ask(const v1::Request& question, const HttpRequest& request);
  HttpAnswer relay(v1::Request& question, const HttpRequest& request);

  HttpMemory& memory_;
  ServerState& state_;
  Conversation conversation_;  // answers Hello
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_JSON_API_H_
