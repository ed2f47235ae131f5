#include "windhover/io/session.h"

#include <algorithm>
#include <optional>

#include <openssl/crypto.h>

#include "windhover/platform/check.h"

namespace windhover {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;  // a turn
// Bytes of questions a turn, fewer because others wait. Input that has come in segments of 7 bytes
// keeps the kernel, which lets the sender go on as well, for 0.3 ms in one go; 8 KiB would for 0.6.
constexpr std::size_t kQuestionBytes = 4 * 1024;
constexpr std::int64_t kGraceNs = 10'000'000;  // how long draining waits for the next byte

}  // namespace

Session::Session(Arena& arena, const Limits& limits, const ConversationContext& context) noexcept
    : context_(context),
      conversation_(context),
      input_(arena.allocate<std::byte>(limits.read_buffer)),
      outgoing_(arena.allocate<std::byte>(limits.reply_buffer)) {}

void Session::bind(IoContext& io, SessionHost& host, SessionTurns& turns) {
  host_ = &host;
  turns_ = &turns;
  socket_.emplace(io, context_.state->counters);
  outgoing_.count_in(context_.state->counters);
  for (Operation* operation : {&read_, &turn_}) {
    operation->memory.count_in(context_.state->counters);
  }
}

Occupant Session::occupant() const noexcept {
  const bool greeted = conversation_.is_greeted();
  return {.stage = stage_,
          .greeted = greeted,
          .stranger = !greeted && (stage_ == Stage::kHere || stage_ == Stage::kParting),
          .on_trial = conversation_.place() != PlaceKind::kEverybodys,
          .address = address_,
          .begun_ns = deadlines_.begun_ns()};
}

void Session::leave_line_when_done() noexcept {
  const bool waits = stage_ == Stage::kHere && stopped_by_ == TurnEnd::kWindowFull;
  if (!waits) conversation_.rows().leave_line();
}

void Session::begin(Stream&& socket, PlaceKind place) noexcept {
  WINDHOVER_CHECK(stage_ == Stage::kNobody);
  const bool begun =
      socket_->begin(std::move(socket), context_.state->tls, context_.state->now_ns());
  conversation_.begin({}, place);
  input_.clear();
  drain_ = {};
  stopped_by_ = TurnEnd::kNeedInput;
  peer_finished_ = false;
  meter_.begin(context_.state->limits.connection);
  throttled_since_ns_ = 0;
  address_ = Credential::of_address(socket_->native_handle()).number();
  const std::int64_t now_ns = context_.state->now_ns();
  deadlines_.begin(now_ns);
  outgoing_.begin(now_ns);
  stage_ = Stage::kHere;
  if (!begun) return abort();
  read();
}

// --- Reading

void Session::read() noexcept {
  WINDHOVER_CHECK(!read_.under_way);
  const std::size_t turn = conversation_.rows().is_on() ? kReadBytes : kQuestionBytes;
  const std::size_t most = conversation_.is_greeted() ? meter_.most_bytes(turn) : turn;
  const std::span<std::byte> room = input_.make_room(most);
  read_.under_way = true;
  socket_->async_read_some(room, read_.memory, [this](const ErrorCode& error, std::size_t bytes) {
    on_read(error, bytes);
  });
}

// A peer over its limits is not read, so it waits. Before Hello its limits are not known, and a
// frame is all that it may send.
bool Session::is_over_limits() noexcept {
  meter_.take_up(conversation_.new_limits(), context_.state->limits.connection);
  if (!meter_.is_on() || drain_.on || !conversation_.is_greeted()) return false;
  // A peer is not held up while others wait for it: it is in line for room, or has the place of a
  // long question.
  if (deadlines_.room_since_ns() != 0 || conversation_.questions().is_answering()) return false;
  const std::int64_t now_ns = context_.state->now_ns();
  if (meter_.wait_ns(now_ns) == 0) return false;
  if (throttled_since_ns_ == 0) {
    throttled_since_ns_ = now_ns;
    context_.state->counters.add(IoCounter::kLimitWaits);
  }
  host_->on_throttle(*this);
  return true;
}

void Session::read_on() noexcept {
  if (stage_ != Stage::kHere || throttled_since_ns_ == 0) return;
  const std::int64_t now_ns = context_.state->now_ns();
  if (is_over_limits()) return;
  throttled_since_ns_ = 0;
  deadlines_.listens_again(now_ns);
  turn(turns_->budget());
}

// Draining waits only for bytes on their way: what a peer has handed to its kernel may reach ours a
// moment later. A peer that goes on sending gets half of drain_timeout; the other half is for its
// last replies.
void Session::read_now() noexcept {
  const std::span<std::byte> room = input_.make_room(kReadBytes);
  ErrorCode error;
  const std::size_t bytes = socket_->read_some(room, error);
  if (error == asio::error::would_block &&
      context_.state->now_ns() - std::max(deadlines_.heard_ns(), drain_.since_ns) < kGraceNs &&
      drain_.since_ns - deadlines_.heard_ns() < kQuietNs) {
    drain_.in_grace = true;
    return host_->on_pause(*this);
  }
  if (error) {
    peer_finished_ = error != asio::error::would_block;
    say_goodbye();
    return;
  }
  context_.state->counters.add(IoCounter::kBytesReceived, bytes);
  deadlines_.heard(context_.state->now_ns());
  input_.received(bytes);
  schedule_turn();
}

void Session::on_read(const ErrorCode& error, std::size_t bytes) noexcept {
  read_.under_way = false;
  if (stage_ == Stage::kIsClosed) return settle();
  if (stage_ == Stage::kParting || stage_ == Stage::kLingers) {
    input_.clear();
    if (!error) return read();
    peer_finished_ = true;
    if (stage_ == Stage::kLingers) abort();
    return;
  }
  if (error == asio::error::operation_aborted) return turn(turns_->budget());  // by drain()
  if (error == asio::error::eof) {
    peer_finished_ = true;
    return say_goodbye();
  }
  if (error) return fail();
  context_.state->counters.add(IoCounter::kBytesReceived, bytes);
  deadlines_.heard(context_.state->now_ns());
  meter_.read(bytes, deadlines_.heard_ns());
  input_.received(bytes);
  turn(turns_->budget());
}

// --- Handling

void Session::turn(std::int64_t budget) noexcept {
  if (Credential who; socket_->tells_who(who)) conversation_.begin(who, conversation_.place());
  if (is_over_limits()) return;
  throttled_since_ns_ = 0;
  const Conversation::Turn turn =
      conversation_.handle(input_.pending(), outgoing_.buffer(), budget);
  if (turn.secret) OPENSSL_cleanse(input_.pending().data(), turn.consumed);
  input_.consume(turn.consumed);
  if (turn.cost > 0) turns_->charge(*this, turn.cost);
  // The peer may have said Hello just now.
  meter_.take_up(conversation_.new_limits(), context_.state->limits.connection);
  meter_.handled(turn.frames, turn.questions, turn.cost, deadlines_.heard_ns());
  stopped_by_ = turn.end;
  deadlines_.handled(turn.consumed > 0, !input_.pending().empty(), turn.end == TurnEnd::kNeedInput);
  if (turn.end == TurnEnd::kWindowFull || turn.end == TurnEnd::kLogBehind) {
    deadlines_.waits_for_room(context_.state->now_ns());
  } else {
    deadlines_.has_room();
  }
  if (turn.end == TurnEnd::kClose) return say_goodbye();
  write();
  if (stage_ != Stage::kHere) return;
  switch (turn.end) {
    case TurnEnd::kNeedInput:
      if (!drain_.on) {
        if (!is_over_limits()) read();
      } else if (context_.state->now_ns() < drain_.until_ns) {
        read_now();
      } else {
        say_goodbye();
      }
      break;
    case TurnEnd::kNeedRoom:
      if (outgoing_.buffer().empty()) schedule_turn();  // otherwise on_written() does
      break;
    case TurnEnd::kWindowFull:
      host_->on_pause(*this);
      break;
    case TurnEnd::kLogBehind:  // on_durable() goes on
      break;
    case TurnEnd::kQuestion:
    case TurnEnd::kPlace:
      turns_->wait(*this, turn.end == TurnEnd::kPlace);
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
               if (stage_ == Stage::kIsClosed) return settle();
               if (stage_ == Stage::kHere) turn(turns_->budget());
             }));
}

void Session::resume() noexcept {
  if (stage_ != Stage::kHere) return;
  if (drain_.in_grace) {
    drain_.in_grace = false;
    return read_now();
  }
  if (stopped_by_ != TurnEnd::kWindowFull) return;
  deadlines_.heard(context_.state->now_ns());  // the peer was not silent: it was not read
  turn(turns_->budget());
}

void Session::take_turn() noexcept {
  if (stage_ == Stage::kHere) turn(kTurnNs);
}

void Session::on_durable() noexcept {
  if (stage_ == Stage::kHere && stopped_by_ == TurnEnd::kLogBehind) {
    deadlines_.heard(context_.state->now_ns());  // the peer was not silent: it was not read
    return turn(turns_->budget());
  }
  if (stage_ != Stage::kHere && stage_ != Stage::kParting) return;
  write();
  if (stage_ == Stage::kParting && !outgoing_.is_under_way()) linger_when_settled();
}

// --- Writing

void Session::write() noexcept {
  if (outgoing_.is_under_way()) return;
  for (;;) {
    conversation_.flush_acknowledgements(outgoing_.buffer());
    if (outgoing_.buffer().empty()) return;
    const std::span<const std::byte> bytes = outgoing_.buffer().pending();
    ErrorCode error;
    const std::size_t sent = socket_->write_some(bytes, error);
    if (error == asio::error::would_block) {
      context_.state->counters.add(IoCounter::kWriteStalls);
      outgoing_.wait(context_.state->now_ns());
      socket_->async_write_some(bytes, outgoing_.memory(),
                                [this](const ErrorCode& e, std::size_t n) { on_written(e, n); });
      return;
    }
    if (error) return fail();
    context_.state->counters.add(IoCounter::kBytesSent, sent);
    outgoing_.taken(sent);
  }
}

void Session::on_written(const ErrorCode& error, std::size_t bytes) noexcept {
  outgoing_.end_wait();
  if (stage_ == Stage::kIsClosed) return settle();
  if (error && error != asio::error::operation_aborted) return fail();
  context_.state->counters.add(IoCounter::kBytesSent, bytes);
  outgoing_.taken(bytes);
  deadlines_.heard(context_.state->now_ns());
  write();
  if (outgoing_.is_under_way() || stage_ == Stage::kIsClosed) return;
  if (stage_ == Stage::kParting) {
    linger_when_settled();
  } else if (stage_ == Stage::kHere && stopped_by_ == TurnEnd::kNeedRoom) {
    schedule_turn();
  }
}

}  // namespace windhover
