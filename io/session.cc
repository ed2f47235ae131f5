#include "windhover/io/session.h"

#include <algorithm>
#include <cstring>

#include "windhover/platform/check.h"

namespace windhover {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;  // a turn
constexpr std::int64_t kGraceNs = 10'000'000;  // without a byte, from a peer not long quiet

}  // namespace

Session::Session(Arena& arena, const Limits& limits, const ConversationContext& context) noexcept
    : context_(context),
      conversation_(context),
      buffer_(arena.allocate<std::byte>(limits.read_buffer)),
      replies_(arena.allocate<std::byte>(limits.reply_buffer)) {}

void Session::bind(IoContext& io, SessionHost& host) {
  host_ = &host;
  socket_.emplace(io);
  for (HandlerMemory* memory : {&read_memory_, &write_memory_, &turn_memory_}) {
    memory->count_in(context_.state->counters);
  }
}

void Session::begin(Stream&& socket) noexcept {
  WINDHOVER_CHECK(is_free());
  *socket_ = std::move(socket);
  ErrorCode ignored;
  socket_->non_blocking(true, ignored);
  socket_->set_option(asio::ip::tcp::no_delay(true), ignored);  // refused by Unix-domain sockets
  conversation_.begin();
  replies_.clear();
  begin_ = end_ = 0;
  draining_ = wants_room_ = window_full_ = log_behind_ = peer_finished_ = in_grace_ = false;
  heard_ns_ = written_ns_ = now();
  waiting_since_ns_ = 0;
  state_ = State::kOpen;
  read();
}

// --- Reading

std::span<std::byte> Session::read_room() const noexcept {
  return buffer_.subspan(end_, std::min(buffer_.size() - end_, kReadBytes));
}

// The rest of a frame moves to the front: a whole frame then always fits behind it.
void Session::make_room() noexcept {
  if (begin_ == 0) return;
  if (begin_ < end_) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

void Session::read() noexcept {
  WINDHOVER_CHECK(!reading_);
  make_room();
  const std::span<std::byte> room = read_room();
  reading_ = true;
  socket_->async_read_some(
      asio::buffer(room.data(), room.size()),
      with_memory(read_memory_,
                  [this](const ErrorCode& error, std::size_t bytes) { on_read(error, bytes); }));
}

// While draining only what is on its way is waited for: bytes that a peer has handed to its kernel
// may reach ours a moment later. A peer that goes on sending gets half the time there is; the other
// half is for the goodbye.
void Session::read_now() noexcept {
  make_room();
  const std::span<std::byte> room = read_room();
  ErrorCode error;
  const std::size_t bytes = socket_->read_some(asio::buffer(room.data(), room.size()), error);
  if (error == asio::error::would_block && now() - std::max(heard_ns_, draining_ns_) < kGraceNs &&
      draining_ns_ - heard_ns_ < kQuietNs) {
    in_grace_ = true;
    return host_->on_pause(*this);
  }
  if (error) {
    peer_finished_ = error != asio::error::would_block;
    say_goodbye();
    return;
  }
  context_.state->counters.add(IoCounter::kBytesReceived, bytes);
  heard_ns_ = now();
  end_ += bytes;
  schedule_turn();
}

void Session::on_read(const ErrorCode& error, std::size_t bytes) noexcept {
  reading_ = false;
  if (state_ == State::kClosed) return settle();
  if (state_ == State::kLastWords || state_ == State::kLingering) {
    end_ = begin_ = 0;
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
  end_ += bytes;
  turn();
}

// --- Handling

void Session::turn() noexcept {
  const Conversation::Turn turn =
      conversation_.handle(buffer_.subspan(begin_, end_ - begin_), replies_);
  begin_ += turn.consumed;
  window_full_ = turn.end == TurnEnd::kWindowFull;
  wants_room_ = turn.end == TurnEnd::kNeedRoom;
  log_behind_ = turn.end == TurnEnd::kLogBehind;
  const bool waits = window_full_ || log_behind_;
  waiting_since_ns_ = !waits ? 0 : waiting_since_ns_ != 0 ? waiting_since_ns_ : now();
  if (turn.end == TurnEnd::kClose) return say_goodbye();
  write();
  if (state_ != State::kOpen) return;
  switch (turn.end) {
    case TurnEnd::kNeedInput:
      if (!draining_) {
        read();
      } else if (now() < drain_until_ns_) {
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
    default:
      schedule_turn();
  }
}

void Session::schedule_turn() noexcept {
  if (scheduled_) return;
  scheduled_ = true;
  asio::post(socket_->get_executor(), with_memory(turn_memory_, [this] {
               scheduled_ = false;
               if (state_ == State::kClosed) return settle();
               if (state_ == State::kOpen) turn();
             }));
}

void Session::resume() noexcept {
  if (state_ != State::kOpen) return;
  if (in_grace_) {
    in_grace_ = false;
    return read_now();
  }
  if (!window_full_) return;
  heard_ns_ = now();  // the peer is not silent, we do not listen
  turn();
}

void Session::on_durable() noexcept {
  if (state_ == State::kOpen && log_behind_) {
    heard_ns_ = now();  // the peer is not silent, we do not listen
    return turn();
  }
  if (state_ != State::kOpen && state_ != State::kLastWords) return;
  write();
  if (state_ == State::kLastWords && !writing_) linger_when_settled();
}

// --- Writing

void Session::write() noexcept {
  if (writing_) return;
  for (;;) {
    conversation_.flush_acknowledgements(replies_);
    if (replies_.empty()) return;
    const std::span<const std::byte> bytes = replies_.pending();
    ErrorCode error;
    const std::size_t sent = socket_->write_some(asio::buffer(bytes.data(), bytes.size()), error);
    if (error == asio::error::would_block) {
      context_.state->counters.add(IoCounter::kWriteStalls);
      written_ns_ = now();
      writing_ = true;
      socket_->async_write_some(
          asio::buffer(bytes.data(), bytes.size()),
          with_memory(write_memory_,
                      [this](const ErrorCode& e, std::size_t n) { on_written(e, n); }));
      return;
    }
    if (error) return fail();
    context_.state->counters.add(IoCounter::kBytesSent, sent);
    replies_.consume(sent);
  }
}

void Session::on_written(const ErrorCode& error, std::size_t bytes) noexcept {
  writing_ = false;
  if (state_ == State::kClosed) return settle();
  if (error && error != asio::error::operation_aborted) return fail();
  context_.state->counters.add(IoCounter::kBytesSent, bytes);
  replies_.consume(bytes);
  heard_ns_ = now();
  write();
  if (!writing_ && state_ != State::kClosed) after_write();
}

void Session::after_write() noexcept {
  if (state_ == State::kLastWords) {
    linger_when_settled();
  } else if (state_ == State::kOpen && wants_room_) {
    schedule_turn();
  }
}

}  // namespace windhover
