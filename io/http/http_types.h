#ifndef WINDHOVER_IO_HTTP_HTTP_TYPES_H_
#define WINDHOVER_IO_HTTP_HTTP_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "windhover/io/access/credential.h"
#include "windhover/io/http/page_asset.h"
#include "windhover/io/producer_shares.h"

namespace windhover {

enum class HttpMethod : std::uint8_t { kOther, kGet, kPost };  // HEAD is a GET without a body

// A request that has come whole. The strings live as long as the call.
struct HttpRequest {
  HttpMethod method = HttpMethod::kOther;
  std::string_view path;   // without what follows a '?'
  std::string_view query;  // what follows it
  std::size_t model = 0;   // the place of the model that is asked about
  std::string_view content_type;
  std::string_view accept;
  std::string_view if_none_match;
  std::string_view body;
  const void* asker = nullptr;  // tells connections apart
  Credential who;               // who asks
  Credential from;              // where it asks from: Credential::of_address()
  std::size_t bytes = 0;        // of its head and its body, as far as they have come
};

// A frame for the observe endpoint.
struct HttpRelay {
  std::string frame;
  std::size_t model = 0;  // the model that it is about
  ProducerOwner owner = {};
};

struct HttpAnswer {
  unsigned status = 200;
  std::string body;
  std::string_view content_type = "application/json";
  std::string_view allow;          // with a 405
  std::string_view location = {};  // with a 308
  bool asks_for_token = false;     // with a 401
  std::int64_t wait_ns = 0;        // with 429 and 503: until the next request may be answered
  std::int64_t cost_ns = 0;        // as QuestionCost counts, plus that of the JSON
  HttpRelay relay = {};            // with a frame: the observe endpoint's answer to it counts
  // A file of the page or the manual, whose body and type are sent; with a 304 its ETag alone.
  const PageAsset* asset = nullptr;
};

// The value of `name` in a query ("a=1&b=2"), not decoded; empty: there is none.
std::string_view query_value(std::string_view query, std::string_view name) noexcept;

// A JSON string, with its quotes. Characters that are not printable ASCII become '?' or blanks.
std::string json_string(std::string_view text);

// {"error": sentence}, and "field", a JSON Pointer, if it is known which part of the body is wrong.
HttpAnswer http_error(unsigned status, std::string_view sentence, std::string_view field = {});

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_TYPES_H_
