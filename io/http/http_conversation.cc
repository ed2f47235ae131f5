#include "windhover/io/http/http_conversation.h"

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include <boost/asio/buffer.hpp>

// Under sanitizers g++ 12 believes that an empty boost::optional of the parser is read.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#pragma GCC diagnostic pop

namespace windhover {

namespace http = boost::beast::http;

struct HttpConversation::Parser {
  http::request_parser<http::string_body> request;
};

namespace {

std::string_view view_of(boost::beast::string_view text) noexcept {
  return {text.data(), text.size()};
}

HttpMethod method_of(http::verb verb) noexcept {
  if (verb == http::verb::get || verb == http::verb::head) return HttpMethod::kGet;
  return verb == http::verb::post ? HttpMethod::kPost : HttpMethod::kOther;
}

// A token replaces what is known of the peer, even a token that nobody has.
Credential credential_of(std::string_view authorization, const Credential& peer) noexcept {
  constexpr std::string_view kScheme = "bearer ";
  const auto same = [](char given, char expected) {
    return given == expected || (given >= 'A' && given <= 'Z' && given - 'A' + 'a' == expected);
  };
  if (authorization.empty()) return peer;
  if (!std::ranges::equal(authorization.substr(0, kScheme.size()), kScheme, same)) return {};
  return Credential::of_token(authorization.substr(kScheme.size()));
}

HttpCounter counter_of(unsigned status) noexcept {
  if (status < 400) return HttpCounter::kAnswersOk;
  return status < 500 ? HttpCounter::kAnswersClientError : HttpCounter::kAnswersServerError;
}

// Page and manual run only their own files, ask only their own server, and no site may frame them.
constexpr const char* kPagePolicy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "object-src 'none'";

void write_answer(const HttpAnswer& answer, unsigned version, bool keep, bool with_body,
                  std::string& out) {
  http::response_header<> head;
  head.version(version);
  head.result(answer.status);
  const auto set = [&head](http::field field, std::string_view value) {
    head.set(field, boost::beast::string_view(value.data(), value.size()));
  };
  set(http::field::server, "windhover");
  const PageAsset* const asset = answer.asset;
  const std::string_view body = asset != nullptr ? asset->body : std::string_view(answer.body);
  const bool unchanged = answer.status == 304;
  if (!unchanged) {
    set(http::field::content_type, asset != nullptr ? asset->content_type : answer.content_type);
    set(http::field::content_length, std::to_string(body.size()));
  }
  // Files of the page may be cached, and are revalidated by their ETag; answers may not.
  set(http::field::cache_control, asset != nullptr ? "no-cache" : "no-store");
  head.set("X-Content-Type-Options", "nosniff");
  if (asset != nullptr) {
    set(http::field::etag, asset->etag);
    head.set("Content-Security-Policy", kPagePolicy);
    head.set("Referrer-Policy", "no-referrer");
  }
  if (!answer.allow.empty()) set(http::field::allow, answer.allow);
  if (!answer.location.empty()) set(http::field::location, answer.location);
  if (answer.asks_for_token) set(http::field::www_authenticate, "Bearer");
  if (answer.wait_ns > 0) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    set(http::field::retry_after, std::to_string((answer.wait_ns + kSecond - 1) / kSecond));
  }
  if (!keep) set(http::field::connection, "close");
  if (keep && version < 11) set(http::field::connection, "keep-alive");
  std::ostringstream text;
  text << head;
  out += text.str();
  if (with_body && !unchanged) out += body;
}

}  // namespace

HttpConversation::HttpConversation(const HttpConfig& config, HttpHandler& handler,
                                   HttpPlaces* places)
    : header_cap_(config.header_cap),
      body_cap_(config.body_cap),
      handler_(handler),
      places_(places) {}

HttpConversation::~HttpConversation() = default;

void HttpConversation::begin(const Credential& peer, PlaceKind place) noexcept {
  peer_ = last_ = peer;
  identity_ = {};
  place_ = place;
  parser_.reset();
  known_ = false;
  begun_ = false;
  admitted_ = false;
  bytes_ = 0;
  stopping_ = false;
}

bool HttpConversation::has_head() const noexcept {
  return parser_ != nullptr && parser_->request.is_header_done();
}

bool HttpConversation::is_whole() const noexcept {
  return parser_ != nullptr && parser_->request.is_done();
}

HttpConversation::Turn HttpConversation::handle(std::span<const std::byte> input, std::string& out,
                                                bool may_answer) noexcept {
  if (input.empty() && !is_whole()) return {};
  try {
    return parse(input, out, may_answer);
  } catch (const std::exception&) {
    handler_.counters().add(HttpCounter::kExceptions);
    out.clear();
    begin(peer_);
    return {End::kClose, input.size()};
  }
}

HttpConversation::Turn HttpConversation::parse(std::span<const std::byte> input, std::string& out,
                                               bool may_answer) {
  Turn turn;
  if (is_whole()) {
    turn.end = may_answer ? answer(out, turn.cost) : End::kTurn;
    return turn;
  }
  begun_ = true;
  if (parser_ == nullptr) {
    parser_ = std::make_unique<Parser>();
    parser_->request.header_limit(header_cap_);
    parser_->request.body_limit(body_cap_);
    parser_->request.eager(true);
  }
  boost::system::error_code error;
  turn.consumed =
      parser_->request.put(boost::asio::const_buffer(input.data(), input.size()), error);
  const bool broken = error && error != http::error::need_more;
  bytes_ += broken ? input.size() : turn.consumed;  // behind a broken request nothing is read
  if (error == http::error::header_limit) {
    turn.end = refuse(http_error(431, "the head of the request is too large"), out);
  } else if (error == http::error::body_limit) {
    turn.end = refuse(http_error(413, "the body of the request is too large"), out);
  } else if (broken) {
    turn.end = refuse(http_error(400, "this is no HTTP/1.1 request"), out);
  } else if (has_head()) {
    admit(out, may_answer, turn);
  }
  return turn;
}

// Judges a request by its head. A refusal before the body has come ends the connection.
void HttpConversation::admit(std::string& out, bool may_answer, Turn& turn) {
  const bool whole = is_whole();
  if (!admitted_) {
    const HttpRequest request = request_so_far();
    last_ = request.who;
    known_ = known_ || handler_.is_known(request.who);
    // Signs of life are answered at any time, before others, so a body would cost others.
    const bool body = !whole || !request.body.empty() || parser_->request.chunked();
    if (body && HttpHandler::is_sign_of_life(request)) {
      turn.end = refuse(http_error(413, "signs of life are asked for without a body"), out);
      return;
    }
    HttpAnswer refusal;
    const bool over_limits = handler_.is_over_limits(request, refusal);
    if (over_limits || !may_ask(request, refusal)) {
      if (!over_limits) handler_.charge_broken(request);
      manner_ = manner_of_request();
      manner_.keep = manner_.keep && whole && over_limits;
      parser_.reset();
      turn.end = write(refusal, out);
      return;
    }
    admitted_ = true;
    const auto& fields = parser_->request.get();
    if (!whole && http::token_list(fields[http::field::expect]).exists("100-continue")) {
      out += "HTTP/1.1 100 Continue\r\n\r\n";
    }
  }
  if (!whole) return;
  const bool now = may_answer || HttpHandler::is_sign_of_life(request_so_far());
  turn.end = now ? answer(out, turn.cost) : End::kTurn;
}

HttpConversation::Manner HttpConversation::manner_of_request() const {
  const auto& message = parser_->request.get();
  return {message.version(), message.keep_alive(), message.method() != http::verb::head};
}

HttpRequest HttpConversation::request_so_far() const {
  const http::request<http::string_body>& message = parser_->request.get();
  HttpRequest request;
  request.method = method_of(message.method());
  const std::string_view target = view_of(message.target());
  request.path = target.substr(0, target.find('?'));
  request.query = target.substr(std::min(target.size(), request.path.size() + 1));
  request.content_type = view_of(message[http::field::content_type]);
  request.accept = view_of(message[http::field::accept]);
  request.if_none_match = view_of(message[http::field::if_none_match]);
  request.body = message.body();
  request.asker = this;
  request.who = credential_of(view_of(message[http::field::authorization]), peer_);
  request.from = from_;
  request.bytes = bytes_;
  return request;
}

HttpConversation::End HttpConversation::answer(std::string& out, std::int64_t& cost) {
  handler_.counters().add(HttpCounter::kRequests);
  const HttpRequest request = request_so_far();
  HttpAnswer answer = handler_.answer(request);
  bytes_ = 0;  // they are paid for
  cost = answer.cost_ns;
  manner_ = manner_of_request();
  parser_.reset();
  if (answer.relay.frame.empty()) return write(answer, out);
  relay_ = std::move(answer.relay);
  return End::kWaiting;
}

HttpConversation::End HttpConversation::answer_later(const HttpAnswer& answer, std::string& out) {
  return write(answer, out);
}

HttpConversation::End HttpConversation::turn_away(const HttpAnswer& answer, std::string& out) {
  handler_.charge_broken(request_so_far());
  manner_ = manner_of_request();
  parser_.reset();
  return write(answer, out);
}

void HttpConversation::end(std::size_t bytes) noexcept {
  if (bytes_ + bytes > 0) throw_away(bytes_ + bytes);
  begin();
}

HttpRequest HttpConversation::nothing_of(std::size_t bytes) const noexcept {
  HttpRequest request;
  request.who = last_;
  request.from = from_;
  request.bytes = bytes;
  return request;
}

void HttpConversation::throw_away(std::size_t bytes) noexcept {
  try {
    handler_.charge_thrown_away(nothing_of(bytes));
  } catch (const std::exception&) {
    handler_.counters().add(HttpCounter::kExceptions);
  }
}

HttpConversation::End HttpConversation::write(const HttpAnswer& answer, std::string& out) {
  const bool keep = manner_.keep && !stopping_ && place_ == PlaceKind::kEverybodys;
  handler_.counters().add(counter_of(answer.status));
  write_answer(answer, manner_.version, keep, manner_.with_body, out);
  begun_ = admitted_ = false;
  bytes_ = 0;
  return keep ? End::kAnswered : End::kClose;
}

HttpConversation::End HttpConversation::refuse(const HttpAnswer& answer, std::string& out) {
  handler_.counters().add(HttpCounter::kMalformed);
  handler_.charge_broken(has_head() ? request_so_far() : nothing_of(bytes_));
  parser_.reset();
  manner_ = {};
  return write(answer, out);
}

}  // namespace windhover
