// Whether a request may be answered on the connection that it came on.
#include "windhover/io/http/http_conversation.h"
#include "windhover/io/http/json_answer.h"

namespace windhover {
namespace {

constexpr std::int64_t kComeAgainNs = 1'000'000'000;

}  // namespace

// Signs of life may be asked for on any connection. Any answer on one that came when all places
// were taken is its last, unless it becomes an admin's.
bool HttpConversation::may_ask(const HttpRequest& request, HttpAnswer& refusal) {
  if (HttpHandler::is_sign_of_life(request)) return true;
  const bool identity = handler_.is_identity(request.who);
  if (place_ != PlaceKind::kEverybodys) {
    const bool admin = identity && handler_.is_admin(request.who) && places_->admins_is_free();
    if (admin) place_ = PlaceKind::kEverybodys;
    if (!admin && (place_ != PlaceKind::kStatus || !HttpHandler::is_status(request))) {
      handler_.counters().add(HttpCounter::kConnectionsRefused);
      refusal = http_error(503, "too many connections are open");
      refusal.wait_ns = kComeAgainNs;
      return false;
    }
  }
  if (!identity || places_ == nullptr || request.who.same_as(identity_)) return true;
  const std::uint64_t most = handler_.most_connections(request.who);
  if (most != 0 && !places_->has_place(*this, request.who, most)) {
    handler_.count_place_refused();
    refusal = json_refusal(v1::REASON_UNAVAILABLE, most,
                           "this identity has as many connections as it may");
    refusal.status = 503;
    refusal.wait_ns = kComeAgainNs;
    return false;
  }
  identity_ = request.who;
  return true;
}

}  // namespace windhover
