#include "windhover/io/http/http_connection.h"

#include <algorithm>
#include <exception>

namespace windhover {
namespace {

constexpr std::int64_t kLingerNs = 2'000'000'000;

std::int64_t to_ns(std::chrono::milliseconds time) noexcept {
  return std::chrono::nanoseconds(time).count();
}

// `obstacle`: what holds up senders.
const char* why_not_acknowledged(Status obstacle) noexcept {
  switch (obstacle) {
    case Status::kOk:
      return "no acknowledgement has come: the rows may be taken later, or not";
    case Status::kLogFull:
      return "no acknowledgement has come: the log is full until a checkpoint lets old rows go; "
             "the "
             "rows may be taken then, or not";
    default:
      return "no acknowledgement has come: the log cannot be written; the rows may be taken when "
             "it "
             "can, or not";
  }
}

}  // namespace

HttpConnection::HttpConnection(IoContext& io, const HttpConfig& config, HttpHandler& handler,
                               ServerState& state, std::deque<ObserveLink>& links,
                               HttpConnectionHost& host)
    : config_(config),
      handler_(handler),
      state_of_server_(state),
      clock_(*state.clock),
      links_(links),
      host_(host),
      socket_(io, state.counters),
      conversation_(config, handler, &host),
      memory_(std::max<std::size_t>(config.header_cap, 16 * 1024)),
      input_(memory_) {
  handler_memory_.count_in(state.counters);
}

Occupant HttpConnection::occupant() const noexcept {
  using Stage = Occupant::Stage;
  const Stage stage = state_ == State::kFree        ? Stage::kNobody
                      : state_ == State::kClosed    ? Stage::kIsClosed
                      : state_ == State::kLingering ? Stage::kLingers
                                                    : Stage::kHere;
  return {.stage = stage,
          .greeted = conversation_.has_been_known() || state_ != State::kReading,
          .stranger = gives_way() == GivesWay::kStranger,
          .on_trial = conversation_.place() != PlaceKind::kEverybodys,
          .address = conversation_.from().number(),
          .begun_ns = begun_ns_};
}

void HttpConnection::begin(Stream&& socket, PlaceKind place) noexcept {
  const bool begun = socket_.begin(std::move(socket), state_of_server_.tls, clock_.now_ns());
  conversation_.begin({}, place);
  conversation_.come_from(Credential::of_address(socket_.native_handle()));
  input_.clear();
  first_ = true;
  begun_ns_ = since_ns_ = clock_.now_ns();
  state_ = State::kReading;
  if (!begun) return abort();
  read();
}

// How long the current wait may take.
std::int64_t HttpConnection::allowed_ns() const noexcept {
  if (state_ == State::kLingering) return kLingerNs;
  if (state_ == State::kWaiting || state_ == State::kWriting || conversation_.has_head())
    return to_ns(config_.request_timeout);
  return to_ns(first_ || conversation_.has_begun() ? config_.header_timeout : config_.idle_timeout);
}

HttpConnection::GivesWay HttpConnection::gives_way() const noexcept {
  if (state_ == State::kLingering) return GivesWay::kLingers;
  const bool known = conversation_.has_been_known();
  if (!known && (state_ == State::kReading || state_ == State::kWriting)) {
    return GivesWay::kStranger;
  }
  const bool idle = state_ == State::kReading && !conversation_.has_begun();
  return idle ? GivesWay::kIdle : GivesWay::kNever;
}

void HttpConnection::check_timeouts(std::int64_t now_ns) noexcept {
  if (state_ == State::kFree || state_ == State::kClosed) return;
  if (state_ == State::kReading && socket_.shakes_hands_too_long(now_ns)) {
    state_of_server_.counters.add(IoCounter::kTlsTimeouts);
    return abort();
  }
  const Occupant who = occupant();
  if (who.on_trial && who.is_here() && now_ns - begun_ns_ > kOperatorLifeNs) {
    handler_.counters().add(HttpCounter::kTimeouts);
    return abort();
  }
  const std::int64_t late_ns = now_ns - since_ns_ - allowed_ns();
  if (late_ns < 0) return;
  const bool may_be_excused = state_ == State::kReading && late_ns < PeerSocket::kHeldUpNs;
  if (may_be_excused && socket_.available() > 0) return;
  if (state_ != State::kLingering) handler_.counters().add(HttpCounter::kTimeouts);
  if (state_ == State::kTurn) return turn_away();
  if (state_ != State::kWaiting) return abort();
  if (link_->forget(*this)) {
    on_failure(504, why_not_acknowledged(link_->obstacle()));
  } else {
    on_failure(503, "other rows wait to be taken: these were not");
  }
}

void HttpConnection::turn() noexcept {
  if (Credential who; socket_.tells_who(who)) conversation_.begin(who, conversation_.place());
  output_.bytes.clear();
  output_.sent = 0;
  const bool had_begun = conversation_.has_begun();
  const HttpConversation::Turn turn = conversation_.handle(input_.pending(), output_.bytes, false);
  input_.consume(turn.consumed);
  if (!had_begun && conversation_.has_begun()) since_ns_ = clock_.now_ns();
  if (turn.end == HttpConversation::End::kTurn) {
    state_ = State::kTurn;
    return host_.on_question(*this);
  }
  go_on(turn);
}

void HttpConnection::turn_away() noexcept {
  constexpr std::int64_t kComeAgainNs = 1'000'000'000;
  host_.on_left(*this);
  try {
    HttpAnswer busy = http_error(503, "others were answered until the time of this request was up");
    busy.wait_ns = kComeAgainNs;
    output_.last = conversation_.turn_away(busy, output_.bytes) == HttpConversation::End::kClose;
  } catch (const std::exception&) {
    return abort();
  }
  since_ns_ = clock_.now_ns();
  write();
}

void HttpConnection::take_turn() noexcept {
  if (state_ != State::kTurn) return;
  const HttpConversation::Turn turn = conversation_.handle({}, output_.bytes);
  host_.on_cost(*this, turn.cost);
  go_on(turn);
}

void HttpConnection::go_on(const HttpConversation::Turn& turn) noexcept {
  output_.last = turn.end == HttpConversation::End::kClose;
  if (output_.last && output_.bytes.empty()) return abort();
  if (turn.end == HttpConversation::End::kWaiting) {
    state_ = State::kWaiting;
    since_ns_ = clock_.now_ns();
    try {
      HttpRelay relay = conversation_.take_relay();
      link_ = &links_[relay.model];
      return link_->send(std::move(relay), *this);
    } catch (const std::exception&) {
      return abort();
    }
  }
  if (!output_.bytes.empty()) {
    // "100 Continue" does not end a request, so its time goes on.
    if (turn.end != HttpConversation::End::kNeedInput) since_ns_ = clock_.now_ns();
    return write();
  }
  read();
}

void HttpConnection::on_answer(const HttpAnswer& answer) noexcept {
  if (state_ != State::kWaiting) return;
  try {
    output_.last =
        conversation_.answer_later(answer, output_.bytes) == HttpConversation::End::kClose;
  } catch (const std::exception&) {
    return abort();
  }
  since_ns_ = clock_.now_ns();
  write();
}

void HttpConnection::on_failure(unsigned status, const char* sentence) noexcept {
  try {
    on_answer(http_error(status, sentence));
  } catch (const std::exception&) {
    abort();
  }
}

void HttpConnection::read() noexcept {
  if (state_ != State::kLingering) state_ = State::kReading;
  const auto room = input_.make_room(memory_.size());
  if (room.empty()) return abort();  // the parser takes heads of header_cap bytes at most
  under_way_ = true;
  socket_.async_read_some(room, handler_memory_, [this](const ErrorCode& error, std::size_t bytes) {
    on_read(error, bytes);
  });
}

void HttpConnection::on_read(const ErrorCode& error, std::size_t bytes) noexcept {
  under_way_ = false;
  if (state_ == State::kClosed) return settle();
  if (error) return abort();
  if (state_ == State::kLingering) {
    input_.clear();
    conversation_.throw_away(bytes);
    return read();
  }
  input_.received(bytes);
  turn();
}

void HttpConnection::write() noexcept {
  state_ = State::kWriting;
  under_way_ = true;
  const std::span<const char> rest = std::span(output_.bytes).subspan(output_.sent);
  socket_.async_write_some(
      std::as_bytes(rest), handler_memory_,
      [this](const ErrorCode& error, std::size_t sent) { on_written(error, sent); });
}

void HttpConnection::on_written(const ErrorCode& error, std::size_t bytes) noexcept {
  under_way_ = false;
  if (state_ == State::kClosed) return settle();
  if (error) return abort();
  output_.sent += bytes;
  if (output_.sent < output_.bytes.size()) return write();
  if (output_.last) return linger();
  state_ = State::kReading;
  if (conversation_.has_begun()) return read();  // it was a "100 Continue"
  first_ = false;
  output_ = {};
  since_ns_ = clock_.now_ns();
  if (input_.pending().empty()) return read();
  turn();
}

// Closing with unread bytes would reset the connection, and the peer might lose the answer.
void HttpConnection::linger() noexcept {
  socket_.shutdown_send();
  state_ = State::kLingering;
  since_ns_ = clock_.now_ns();
  input_.clear();
  read();
}

void HttpConnection::stop() noexcept {
  conversation_.stop();
  if (state_ == State::kReading && !conversation_.has_begun()) abort();
  if (state_ == State::kWriting) output_.last = output_.last || !conversation_.has_begun();
}

void HttpConnection::abort() noexcept {
  if (state_ == State::kFree || state_ == State::kClosed) return;
  if (state_ == State::kWaiting) link_->forget(*this);
  state_ = State::kClosed;
  socket_.close();
  host_.on_left(*this);
  if (!under_way_) settle();
}

void HttpConnection::settle() noexcept {
  state_ = State::kFree;
  conversation_.end(input_.pending().size());
  output_ = {};
  host_.on_free(*this);
}

}  // namespace windhover
