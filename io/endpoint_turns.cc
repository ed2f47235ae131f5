#include "windhover/io/endpoint_turns.h"

namespace windhover {
namespace {

// While rows come in, the observe endpoint gives them so many times the length of a turn between
// two questions.
constexpr std::int64_t kRowsBeforeQuestions = 9;

}  // namespace

EndpointTurns::EndpointTurns(EndpointKind kind, IoContext& io, EndpointMemory& memory,
                             ServerState& state, std::uint64_t (*stops)() noexcept)
    : kind_(kind),
      io_(io),
      memory_(memory),
      state_(state),
      stops_(stops),
      pause_(io, state.counters) {
  next_memory_.count_in(state.counters);
}

// The query endpoint answers a question as it is read unless others wait.
std::int64_t EndpointTurns::budget() const noexcept {
  return kind_ == EndpointKind::kQuery && memory_.queue.empty() ? kTurnNs : 0;
}

void EndpointTurns::charge(const Session& session, std::int64_t cost) noexcept {
  memory_.queue.charge(number_of(session), cost);
}

void EndpointTurns::wait(const Session& session, bool needs_place) noexcept {
  const auto line = needs_place ? FairQueue::Line::kForPlace : FairQueue::Line::kAny;
  memory_.queue.wait(number_of(session), line);
  schedule_next();
}

void EndpointTurns::leave(const Session& session) noexcept {
  memory_.queue.leave(number_of(session));
  look();
}

// The next turn comes after the sockets' events, so that new questions are seen between two turns.
void EndpointTurns::schedule_next() noexcept {
  if (next_scheduled_) return;
  next_scheduled_ = true;
  asio::post(io_, with_memory(next_memory_, [this] {
               next_scheduled_ = false;
               next_question();
             }));
}

void EndpointTurns::next_question() noexcept {
  if (memory_.queue.empty()) return;
  if (rows_come_first()) return schedule_next();
  const bool light = memory_.queue.next_is_light();
  if (pauses(light)) return;
  if (!light) memory_.queue.pass(spacing_.passed_ns());
  const std::uint32_t who = memory_.queue.next(memory_.long_predict.asker() == nullptr);
  // Nobody: all that wait need the place, and the session that has it will go on or end.
  if (who == FairQueue::kNobody) return;
  memory_.sessions[who].take_turn();
  if (kind_ == EndpointKind::kObserve) {
    questions_due_ns_ = state_.now_ns() + kRowsBeforeQuestions * kTurnNs;
  }
  look();
}

// Whether the next turn, of a light or a heavy asker, has to wait for the end of a pause. The pause
// then schedules it.
bool EndpointTurns::pauses(bool light) noexcept {
  if (kind_ != EndpointKind::kQuery) return false;
  const std::int64_t now_ns = state_.now_ns();
  if (light) {
    spacing_.light_turn(now_ns);
    return false;
  }
  if (pause_.is_set()) return true;
  if (!spacing_.pauses(now_ns, stops_())) return false;
  state_.counters.add(IoCounter::kTurnPauses);
  pause_.set(TurnSpacing::kPause, [this] { schedule_next(); });
  return true;
}

// Whether rows go before questions: on the observe endpoint, while every look at the sockets brings
// some and the next question is not due.
bool EndpointTurns::rows_come_first() noexcept {
  if (kind_ != EndpointKind::kObserve) return false;
  const std::uint64_t rows = state_.counters.get(IoCounter::kRowsReceived);
  if (rows == rows_seen_) return false;
  rows_seen_ = rows;
  return state_.now_ns() < questions_due_ns_;
}

}  // namespace windhover
