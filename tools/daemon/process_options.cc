#include "windhover/tools/daemon/process_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "windhover/tools/error.h"

namespace windhover {

void ProcessOptions::check() const {
  const int cpus = static_cast<int>(std::thread::hardware_concurrency());
  for (const auto& [name, thread] :
       {std::pair{"learner", &learner}, {"observe", &observe}, {"query", &query}}) {
    if (thread->cpu < -1 || thread->cpu >= cpus) {
      throw UserError(fmt::format("process.{}_cpu = {} is not allowed: -1 to {} is expected", name,
                                  thread->cpu, cpus - 1));
    }
    if (thread->fifo_priority < 0 || thread->fifo_priority > 99) {
      throw UserError(fmt::format("process.{}_priority = {} is not allowed: 0 to 99 is expected",
                                  name, thread->fifo_priority));
    }
  }
  // Endpoints turn at least once a second.
  constexpr std::chrono::milliseconds kLeast{2000};
  if (watchdog.timeout < kLeast) {
    throw UserError(
        fmt::format("process.watchdog_timeout = {} is not allowed: {} ms at least are expected",
                    watchdog.timeout.count(), kLeast.count()));
  }
}

void ProcessOptions::use_real_time_profile() {
  const int cpus = static_cast<int>(std::thread::hardware_concurrency());
  // The learner gets no FIFO priority: it always has work, and would starve whatever shares its
  // processor.
  if (cpus >= 2) {
    learner.cpu = cpus - 1;
    query.cpu = cpus - 2;
    observe.cpu = cpus >= 3 ? cpus - 3 : cpus - 2;
  }
  query.fifo_priority = 20;
  observe.fifo_priority = 10;
  lock_memory = true;
}

std::vector<DaemonOption> process_options(ProcessOptions& options, EngineConfig& engine) {
  std::vector<DaemonOption> all = {
      boolean("process.prefault", "touch the whole block before ready", options.prefault),
      boolean("process.lock_memory", "keep it in RAM, where permitted", options.lock_memory),
      choice("process.learner_idle", "what the learner does with nothing to do",
             options.learner_idle,
             Choices<IdleStrategy::Kind>{{"park", IdleStrategy::kPark},
                                         {"spin", IdleStrategy::kSpin}}),
      number("process.learner_threads", "that move the chains; more than 1 with a window only",
             engine.learner_threads),
      number("process.learner_cpu", "of the first; -1: anywhere", options.learner.cpu),
      number("process.observe_cpu", "-1: anywhere", options.observe.cpu),
      number("process.query_cpu", "-1: anywhere", options.query.cpu),
      number("process.learner_priority", "SCHED_FIFO 1..99; 0: ordinary",
             options.learner.fifo_priority),
      number("process.observe_priority", "SCHED_FIFO 1..99; 0: ordinary",
             options.observe.fifo_priority),
      number("process.query_priority", "SCHED_FIFO 1..99; 0: ordinary",
             options.query.fifo_priority),
      choice("process.watchdog", "what becomes of a thread that stands still",
             options.watchdog.exit, Choices<bool>{{"report", false}, {"exit", true}}),
      number("process.watchdog_timeout", "ms without a turn of the thread, 2000 at least",
             options.watchdog.timeout),
  };
  std::ranges::move(log_options(options.log), std::back_inserter(all));
  return all;
}

}  // namespace windhover
