#include "windhover/io/session.h"

#include <algorithm>
#include <optional>

#include <openssl/crypto.h>

#include "windhover/platform/check.h"

namespace windhover {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;  // a turn
// Of questions: others wait for them. What has come in segments of 7 bytes keeps the kernel, which
// lets their sender go on as well, for 0.3 ms in one go; 8 KiB for 0.6.
constexpr std::size_t kQuestionBytes = 4 * 1024;
constexpr std::int64_t kGraceNs = 10'000'000;  // without a byte, from a peer not long quiet

}  // namespace

Session::Session(Arena& arena, const Limits& limits, const ConversationContext& context) noexcept
    : context_(context),
      conversation_(context),
      input_(arena.allocate<std::byte>(limits.read_buffer)),
      replies_(arena.allocate<std::byte>(limits.reply_buffer)) {}

void Session::bind(IoContext& io, SessionHost& host) {
  host_ = &host;
  socket_.emplace(io, context_.state->counters);
  for (Operation* operation : {&read_, &write_, &turn_}) {
    operation->memory.count_in(context_.state->counters);
  }
}

bool Session::is_mute() noexcept {
  return heard_ns_ == begun_ns_ && input_.pending().empty() && socket_->available() == 0;
}

void Session::begin(Stream&& socket, PlaceKind place) noexcept {
  WINDHOVER_CHECK(is_free());
  const bool begun = socket_->begin(std::move(socket), context_.state->tls, now());
  conversation_.begin({}, place);
  replies_.clear();
  input_.clear();
  drain_ = {};
  stopped_by_ = TurnEnd::kNeedInput;
  peer_finished_ = false;
  meter_.begin(context_.state->limits.connection);
  throttled_since_ns_ = 0;
  address_ = Credential::of_address(socket_->native_handle()).number();
  begun_ns_ = heard_ns_ = written_ns_ = now();
  waiting_since_ns_ = frame_since_ns_ = log_waiting_since_ns_ = 0;
  owed_bytes_ = 0;
  state_ = State::kOpen;
  if (!begun) return abort();
  read();
}

// --- Reading

void Session::read() noexcept {
  WINDHOVER_CHECK(!read_.under_way);
  const std::size_t turn = conversation_.observes() ? kReadBytes : kQuestionBytes;
  const std::size_t most = is_greeted() ? meter_.most_bytes(turn) : turn;
  const std::span<std::byte> room = input_.make_room(most);
  read_.under_way = true;
  socket_->async_read_some(room, read_.memory, [this](const ErrorCode& error, std::size_t bytes) {
    on_read(error, bytes);
  });
}

// Of who the peer has turned out to be, and as the file of identities is now.
void Session::take_up_limits() noexcept {
  if (const std::optional<OwnLimits> own = conversation_.new_limits()) {
    meter_.change(own->in_place_of(context_.state->limits.connection));
  }
}

// A peer over its limits fills its own buffers, and waits. Before Hello it is not known whose they
// are, and a frame is all that it may send.
bool Session::is_over_limits() noexcept {
  take_up_limits();
  if (!meter_.is_on() || drain_.on || !is_greeted()) return false;
  // What others wait for is not held up: room in the window, the place of a long question.
  if (waiting_since_ns_ != 0 || conversation_.is_answering()) return false;
  const std::int64_t now_ns = now();
  if (meter_.wait_ns(now_ns) == 0) return false;
  if (throttled_since_ns_ == 0) {
    throttled_since_ns_ = now_ns;
    context_.state->counters.add(IoCounter::kLimitWaits);
  }
  host_->on_throttle(*this);
  return true;
}

void Session::read_on() noexcept {
  if (state_ != State::kOpen || throttled_since_ns_ == 0) return;
  const std::int64_t now_ns = now();
  if (is_over_limits()) return;
  throttled_since_ns_ = 0;
  heard_ns_ = now_ns;  // the peer is not silent, we do not listen
  if (frame_since_ns_ != 0) frame_since_ns_ = now_ns;
  turn();
}

// While draining only what is on its way is waited for: bytes that a peer has handed to its kernel
// may reach ours a moment later. A peer that goes on sending gets half the time there is; the other
// half is for the goodbye.
void Session::read_now() noexcept {
  const std::span<std::byte> room = input_.make_room(kReadBytes);
  ErrorCode error;
  const std::size_t bytes = socket_->read_some(room, error);
  if (error == asio::error::would_block &&
      now() - std::max(heard_ns_, drain_.since_ns) < kGraceNs &&
      drain_.since_ns - heard_ns_ < kQuietNs) {
    drain_.in_grace = true;
    return host_->on_pause(*this);
  }
  if (error) {
    peer_finished_ = error != asio::error::would_block;
    say_goodbye();
    return;
  }
  context_.state->counters.add(IoCounter::kBytesReceived, bytes);
  heard_ns_ = now();
  input_.received(bytes);
  schedule_turn();
}

void Session::on_read(const ErrorCode& error, std::size_t bytes) noexcept {
  read_.under_way = false;
  if (state_ == State::kClosed) return settle();
  if (state_ == State::kLastWords || state_ == State::kLingering) {
    input_.clear();
    if (!error) return read();
    peer_finished_ = true;
    if (state_ == State::kLingering) abort();
    return;
  }
  if (error == asio::error::operation_aborted) return turn();  // by drain()
  if (error == asio::error::eof) {
    peer_finished_ = true;
    return say_goodbye();
  }
  if (error) return fail();
  context_.state->counters.add(IoCounter::kBytesReceived, bytes);
  heard_ns_ = now();
  meter_.read(bytes, heard_ns_);
  input_.received(bytes);
  turn();
}

// --- Handling

void Session::turn(std::int64_t budget) noexcept {
  if (Credential who; socket_->tells_who(who)) conversation_.begin(who, conversation_.place());
  if (is_over_limits()) return;
  throttled_since_ns_ = 0;
  const Conversation::Turn turn = conversation_.handle(input_.pending(), replies_, budget);
  if (turn.secret) OPENSSL_cleanse(input_.pending().data(), turn.consumed);
  input_.consume(turn.consumed);
  if (turn.cost > 0) host_->on_cost(*this, turn.cost);
  take_up_limits();  // it may have said Hello
  meter_.handled(turn.frames, turn.questions, turn.cost, heard_ns_);
  stopped_by_ = turn.end;
  if (turn.consumed > 0 || input_.pending().empty()) frame_since_ns_ = 0;
  if (turn.end == TurnEnd::kNeedInput && frame_since_ns_ == 0 && !input_.pending().empty()) {
    frame_since_ns_ = heard_ns_;
  }
  const bool waits = turn.end == TurnEnd::kWindowFull || turn.end == TurnEnd::kLogBehind;
  waiting_since_ns_ = !waits ? 0 : waiting_since_ns_ != 0 ? waiting_since_ns_ : now();
  if (turn.end == TurnEnd::kClose) return say_goodbye();
  write();
  if (state_ != State::kOpen) return;
  switch (turn.end) {
    case TurnEnd::kNeedInput:
      if (!drain_.on) {
        if (!is_over_limits()) read();
      } else if (now() < drain_.until_ns) {
        read_now();
      } else {
        say_goodbye();
      }
      break;
    case TurnEnd::kNeedRoom:
      if (replies_.empty()) schedule_turn();  // otherwise on_written() does
      break;
    case TurnEnd::kWindowFull:
      host_->on_pause(*this);
      break;
    case TurnEnd::kLogBehind:  // on_durable() goes on
      break;
    case TurnEnd::kQuestion:
    case TurnEnd::kPlace:
      host_->on_question(*this, turn.end == TurnEnd::kPlace);
      break;
    default:
      schedule_turn();
  }
}

void Session::schedule_turn() noexcept {
  if (turn_.under_way) return;
  turn_.under_way = true;
  asio::post(socket_->get_executor(), with_memory(turn_.memory, [this] {
               turn_.under_way = false;
               if (state_ == State::kClosed) return settle();
               if (state_ == State::kOpen) turn();
             }));
}

void Session::resume() noexcept {
  if (state_ != State::kOpen) return;
  if (drain_.in_grace) {
    drain_.in_grace = false;
    return read_now();
  }
  if (stopped_by_ != TurnEnd::kWindowFull) return;
  heard_ns_ = now();  // the peer is not silent, we do not listen
  turn();
}

void Session::take_turn() noexcept {
  if (state_ == State::kOpen) turn(kTurnNs);
}

void Session::on_durable() noexcept {
  if (state_ == State::kOpen && stopped_by_ == TurnEnd::kLogBehind) {
    heard_ns_ = now();  // the peer is not silent, we do not listen
    return turn();
  }
  if (state_ != State::kOpen && state_ != State::kLastWords) return;
  write();
  if (state_ == State::kLastWords && !write_.under_way) linger_when_settled();
}

// --- Writing

void Session::write() noexcept {
  if (write_.under_way) return;
  for (;;) {
    conversation_.flush_acknowledgements(replies_);
    if (replies_.empty()) return;
    const std::span<const std::byte> bytes = replies_.pending();
    ErrorCode error;
    const std::size_t sent = socket_->write_some(bytes, error);
    if (error == asio::error::would_block) {
      context_.state->counters.add(IoCounter::kWriteStalls);
      written_ns_ = now();
      if (owed_bytes_ == 0) {
        owed_bytes_ = bytes.size();
        owed_since_ns_ = written_ns_;
      }
      write_.under_way = true;
      socket_->async_write_some(bytes, write_.memory,
                                [this](const ErrorCode& e, std::size_t n) { on_written(e, n); });
      return;
    }
    if (error) return fail();
    has_taken(sent);
  }
}

void Session::has_taken(std::size_t bytes) noexcept {
  context_.state->counters.add(IoCounter::kBytesSent, bytes);
  replies_.consume(bytes);
  owed_bytes_ -= std::min(bytes, owed_bytes_);
}

void Session::on_written(const ErrorCode& error, std::size_t bytes) noexcept {
  write_.under_way = false;
  if (state_ == State::kClosed) return settle();
  if (error && error != asio::error::operation_aborted) return fail();
  has_taken(bytes);
  heard_ns_ = now();
  write();
  if (write_.under_way || state_ == State::kClosed) return;
  if (state_ == State::kLastWords) {
    linger_when_settled();
  } else if (state_ == State::kOpen && stopped_by_ == TurnEnd::kNeedRoom) {
    schedule_turn();
  }
}

}  // namespace windhover
