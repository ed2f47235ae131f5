// A whole conversation with an engine: whatever comes in, in whatever pieces, every reply is a
// response that a generated parser reads, every row sent is counted once, an acknowledgement names
// the producer whose rows it counts, and no sequence number goes back. Each key that was kept is
// joined once, replaced, timed out or pending. Hellos say tokens, good ones
// and others.
#include "windhover/io/conversation.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "windhover/io/access/access.h"
#include "windhover/io/framing.h"
#include "windhover/io/model_orders.h"
#include "windhover/platform/memory.h"
#include "windhover/tests/fuzz/driver.h"
#include "windhover/tests/io/access/identities.h"
#include "windhover/tests/io/random_messages.h"

namespace windhover::testing {
namespace {

EngineConfig engine_config() {
  EngineConfig config;
  config.model.name = "linear";
  config.model.features = 2;
  config.model.noise_variance = 1.0;
  config.window_size = 500;
  config.window_slack = 256;
  config.max_frame_rows = 64;
  config.max_query_rows = 4;
  config.retained_draws = 8;
  config.sampler.chains = 2;
  config.score_predictions = true;
  config.labels = {.pending = 4, .timeout_seconds = 0.001, .timeout_outcome = 0};
  return config;
}

ServerConfig server_config() {
  ServerConfig config;
  config.frame_cap = 4096;
  config.max_producers = 4;
  return config;
}

// Tokens with all roles, with one role each, and one that nobody has.
constexpr std::array kTokens = {"all-token", "observe-token", "query-token", "no-token"};

// Reads what stands in `lines`, in a file that no other process can see.
void load_identities(Access& access, const std::string& lines) {
  const int file = ::memfd_create("identities", MFD_CLOEXEC);
  const std::string name = "/proc/self/fd/" + std::to_string(file);
  require(file >= 0 && ::fchmod(file, 0600) == 0 &&
          ::write(file, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size()));
  access.set_model(0, "default");
  Access::Sentence sentence{};
  require(access.load(name, sentence).ok());
  ::close(file);
}

struct World {
  World()
      : engine_block(Engine::footprint(engine_config()).value()),
        engine(Engine::create(engine_config(), engine_block.bytes(), clock).value()),
        block(1 << 20),
        arena(block.bytes()),
        limits(limits_of(server_config(), with_defaults(engine_config()))),
        access(arena, 8, 1),
        scratch(arena, limits),
        producers(arena, server_config().max_producers),
        replies(arena.allocate<std::byte>(limits.reply_buffer)),
        conversation(context),
        other(context) {
    state.limits = limits;
    state.clock = &clock;
    load_identities(access, token_line("all", "observe,query,admin") +
                                token_line("observe", "observe") + token_line("query", "query"));
    state.access = &access;
    orders.begin();
    state.orders = &orders;
    model.called.set("default");
    model.limits = limits_of(engine->config());
    model.engine = engine;
    scratch.reset();
    queries.bind(state, EndpointKind::kObserve, model, scratch, engine->reader().value(),
                 engine->reader().value());
    about = {&model, &queries, &producers, nullptr};
    context = {&state, {&about, 1}};
    context.scratch = &scratch.predict;
    require(!arena.exhausted());
  }

  RealClock clock;
  MappedBlock engine_block;
  Engine* engine;
  MappedBlock block;
  Arena arena;
  Limits limits;
  Access access;
  ServerState state;
  ModelOrders orders;  // that nobody carries out
  ServedModel model;
  QueryScratch scratch;
  QueryHandler queries;
  ProducerTable producers;
  ReplyBuffer replies;
  ModelContext about;
  ConversationContext context;
  Conversation conversation;
  Conversation other;                   // now and then it is there first, and speaks for a producer
  std::array<std::uint64_t, 8> next{};  // by producer, as acknowledged last
};

// Acknowledged sequence numbers only grow, whatever comes in.
void check_acknowledgement(World& world, const v1::ObserveAck& ack) {
  require(ack.durable_through() == 0);
  require(ack.frames() > 0);
  if (ack.producer() == 0) require(ack.producer_next() == 0);
  if (ack.producer() == 0 || ack.producer() >= world.next.size()) return;
  std::uint64_t& next = world.next[ack.producer()];
  require(ack.producer_next() >= next);
  next = ack.producer_next();
}

void read_replies(World& world) {
  ReplyBuffer& replies = world.replies;
  while (!replies.empty()) {
    const FrameScan scan = scan_frame(replies.pending(), UINT32_MAX);
    require(scan.kind == FrameScan::kFrame);
    v1::Response response;
    require(response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size())));
    require(response.body_case() != v1::Response::BODY_NOT_SET);
    if (response.has_observe_ack()) check_acknowledgement(world, response.observe_ack());
    if (response.has_outcome_result()) {
      const v1::OutcomeResult& outcome = response.outcome_result();
      require(outcome.refused_key_size() == outcome.refused_reason_size());
      require(static_cast<std::uint64_t>(outcome.refused_key_size()) <= outcome.refused());
    }
    if (response.has_producer_status_result()) {
      const v1::ProducerStatusResult& status = response.producer_status_result();
      require(status.known() || (status.next() == 0 && !status.live()));
    }
    replies.consume(scan.consumed);
  }
}

void add_frame(std::string& bytes, const v1::Request& request) {
  const std::string body = request.SerializeAsString();
  std::array<std::byte, kMaxFrameHeader> header{};
  const std::size_t size =
      write_frame_header(static_cast<std::uint32_t>(body.size()), header.data());
  bytes.append(reinterpret_cast<const char*>(header.data()), size);
  bytes += body;
}

// Another connection, that of a well-behaved client, which comes and goes and sends a row.
void greet_other(World& world, std::size_t choice) {
  std::string bytes;
  if (choice % 3 == 0) {
    world.other.end();
    world.other.begin(Credential::of_host());
    v1::Request hello;
    hello.mutable_hello()->set_version_max(1);
    add_frame(bytes, hello);
  }
  const std::uint64_t producer = 1 + choice % 5;
  v1::Request row;
  row.mutable_observe()->set_producer(producer);
  row.mutable_observe()->set_first_sequence(world.producers.at(producer).next);
  row.mutable_observe()->set_rows(1);
  row.mutable_observe()->add_targets_f64(1);
  for (int j = 0; j < 2; ++j) row.mutable_observe()->add_features_f64(0.5);
  if (choice % 2 == 0) add_frame(bytes, row);
  world.replies.clear();
  for (std::span<const std::byte> rest = std::as_bytes(std::span(bytes)); !rest.empty();) {
    const Conversation::Turn turn = world.other.handle(rest, world.replies);
    rest = rest.subspan(turn.consumed);
    if (turn.end == TurnEnd::kWindowFull) {
      world.engine->progress().pause(false);  // a frame may have paused it, and then its rows wait
      (void)world.engine->poll(1);
    }
    if (turn.end == TurnEnd::kClose) break;  // its first frame was a row
  }
  world.other.flush_acknowledgements(world.replies);
  read_replies(world);
}

void converse(World& world, std::span<const std::byte> input, std::size_t step) {
  greet_other(world, input.size());
  world.conversation.begin();
  world.replies.clear();
  std::size_t begin = 0;
  std::size_t shown = std::min(step, input.size());
  for (;;) {
    const Conversation::Turn turn =
        world.conversation.handle(input.subspan(begin, shown - begin), world.replies);
    require(turn.consumed <= shown - begin);
    begin += turn.consumed;
    if (turn.end == TurnEnd::kClose) break;
    if (turn.end == TurnEnd::kWindowFull) {
      world.engine->progress().pause(false);  // a frame may have paused it, and then its rows wait
      (void)world.engine->poll(1);
    }
    if (turn.end == TurnEnd::kNeedRoom) {
      require(!world.replies.empty());
      read_replies(world);
    }
    if (turn.end != TurnEnd::kNeedInput) continue;
    if (shown == input.size()) break;
    shown = std::min(shown + step, input.size());
  }
  world.conversation.flush_acknowledgements(world.replies);
  read_replies(world);
  world.conversation.end();
  settle_labels(world.about, world.state);
  const auto labels = [&](RuntimeCounter id) { return world.engine->counters().get(id); };
  require(world.engine->labels().pending() <= engine_config().labels.pending);
  require(labels(RuntimeCounter::kLabelsKept) ==
          labels(RuntimeCounter::kLabelsJoined) + labels(RuntimeCounter::kLabelsReplaced) +
              labels(RuntimeCounter::kLabelsTimedOut) + world.engine->labels().pending());
  const auto count = [&](IoCounter id) { return world.state.counters.get(id); };
  require(count(IoCounter::kRowsReceived) == count(IoCounter::kRowsAccepted) +
                                                 count(IoCounter::kRowsRefused) +
                                                 count(IoCounter::kRowsDuplicate));
  require(count(IoCounter::kRowsAccepted) == world.engine->head());
}

}  // namespace

std::string make_case(std::mt19937_64& random) {
  std::string bytes;
  if (random() % 8 != 0) {
    v1::Request hello;
    hello.mutable_hello()->set_version_max(1);
    if (random() % 8 != 0)
      hello.mutable_hello()->set_token(kTokens[random() % 8 != 0 ? 0 : random() % 4]);
    add_frame(bytes, hello);
  }
  for (std::uint64_t n = random() % 12; n > 0; --n) add_frame(bytes, random_request(random));
  return bytes;
}

}  // namespace windhover::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace windhover::testing;
  static const auto world = [] {
    auto made = std::make_unique<World>();
    made->producers.reset({.claims_per_connection = 2, .silence_ns = 1'000'000});
    made->other.begin(windhover::Credential::of_host());
    return made;
  }();
  converse(*world, std::as_bytes(std::span(data, size)), 1 + size % 200);
  return 0;
}
