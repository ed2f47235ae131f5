// A conversation without a socket: the bytes of requests in, the bytes of answers out.
#ifndef WINDHOVER_TOOLS_BENCH_MICRO_TALK_H_
#define WINDHOVER_TOOLS_BENCH_MICRO_TALK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "windhover/io/conversation.h"
#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/placed.h"

namespace windhover {

// A welcomed connection to an engine, which outlives it; at the observe endpoint it may also send
// rows.
class Talk {
 public:
  Talk(Engine& engine, EndpointKind kind, Clock& clock)
      : limits_(limits_of(server_, engine.config())),
        scratch_(limits_),
        producers_(server_.max_producers),
        reply_block_(limits_.reply_buffer),
        replies_(reply_block_.bytes()),
        about_{&model_, &queries_, kind == EndpointKind::kObserve ? &*producers_ : nullptr,
               nullptr},
        context_{&state_, {&about_, 1}},
        conversation_(context_) {
    state_.limits = limits_;
    model_.limits = windhover::limits_of(engine.config());
    model_.engine = &engine;
    state_.clock = &clock;
    scratch_->reset();
    queries_.bind(state_, kind, model_, *scratch_, engine.reader().value(),
                  engine.reader().value());
    producers_->reset();
    conversation_.begin();
    (void)ask(hello_frame());
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  // Handles the bytes of a read as far as they go; replies_ then holds what is to be written.
  Conversation::Turn handle(std::string_view bytes) {
    replies_.clear();
    const Conversation::Turn turn = conversation_.handle(std::as_bytes(std::span(bytes)), replies_);
    conversation_.flush_acknowledgements(replies_);
    return turn;
  }
  // Bytes of the answer; 0 when there is none, or the conversation ends.
  std::size_t ask(std::string_view frame) {
    return handle(frame).end == TurnEnd::kClose ? 0 : replies_.pending().size();
  }
  std::uint64_t count(IoCounter counter) { return state_.counters.get(counter); }

 private:
  ServerConfig server_;
  Limits limits_;
  Placed<QueryScratch> scratch_;
  ServedModel model_;
  QueryHandler queries_;
  Placed<ProducerTable> producers_;
  MappedBlock reply_block_;
  ReplyBuffer replies_;
  ServerState state_;
  ModelContext about_;
  ConversationContext context_;
  Conversation conversation_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_MICRO_TALK_H_
