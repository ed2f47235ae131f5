#include "windhover/io/durable/persistence.h"

namespace windhover {
namespace {

constexpr std::size_t kCheckpointBuffer = 1 << 20;
}  // namespace

PersistenceMemory::PersistenceMemory(Arena& arena, const DurableConfig& config,
                                     std::size_t producer_pairs) noexcept {
  if (!config.enabled()) return;
  arena.region("checkpoints");
  producers.emplace(arena, producer_pairs);
  checkpoint = arena.allocate<std::byte>(kCheckpointBuffer);
  if (!config.log) return;
  arena.region("log");
  ring.emplace(arena, config.max_waiting_frames);
  writer = arena.allocate<std::byte>(LogWriter::footprint(config.log_options));
  reader = arena.allocate<std::byte>(LogReader::footprint(config.log_options));
}

Persistence::Persistence(PersistenceMemory& memory, const DurableConfig& config, Engine& engine,
                         ProducerTable& producers, LogProgress& log,
                         CheckpointProgress& checkpoints, Clock& clock) noexcept
    : memory_(memory),
      config_(config),
      engine_(engine),
      producers_(producers),
      log_(log),
      checkpoints_(checkpoints),
      clock_(clock),
      report_(std::string(config.folder)),
      feed_(nullptr, log, nullptr, {}),
      replay_(memory.reader, engine, log, clock) {}

Persistence::~Persistence() { stop(); }

void Persistence::set_wake(void (*wake)(void*) noexcept, void* context) noexcept {
  wake_ = {wake, context};
}

Status Persistence::start() noexcept {
  if (agent_) {
    const Status status = agent_->start({.name = "wh-log"});
    if (!ok(status)) return status;
  }
  return checkpointer_->start({.name = "wh-checkpoint"});
}

void Persistence::stop() noexcept {
  if (checkpointer_ && checkpointer_->thread().joinable()) checkpointer_->stop();
  if (agent_ && agent_->thread().joinable()) agent_->stop();
}

Status Persistence::checkpoint_at_rest() noexcept {
  if (!feed_.is_open()) return Status::kNotReady;  // what is in the log is not learned yet
  return checkpointer_->take_at_rest(producers_, feed_.pushed());
}

// --- The observe thread

void Persistence::on_wake() noexcept {
  if (feed_.is_open() && memory_.producers->requested()) {
    memory_.producers->take(producers_, engine_.head(), feed_.pushed());
  }
}

bool Persistence::go_on() noexcept {
  if (feed_.is_open()) return false;
  if (replay_.go_on()) return true;
  feed_.open(recovered_.frames);
  on_wake();
  return false;
}

}  // namespace windhover
