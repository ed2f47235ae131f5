// The part of the demonstration in which the daemon is killed.
#ifndef WINDHOVER_TOOLS_DEMONSTRATION_KILLED_H_
#define WINDHOVER_TOOLS_DEMONSTRATION_KILLED_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "windhover/tools/client/send.h"
#include "windhover/tools/daemon/child_daemon.h"

namespace windhover {

struct KilledResult {
  SendReport sent;
  std::uint64_t rows_at_kill = 0;   // accepted by the daemon, as it last said
  std::uint64_t rows_at_ready = 0;  // recovered by the next one
  double seconds_to_ready = 0;      // from the kill to the next daemon's line "ready"
  double seconds_to_answer = 0;     // to an answer
  double seconds_to_all = 0;        // to one that stands on all recovered rows
  std::uint64_t rows_at_end = 0;
  ChildDaemon::Stopped stopped;

  bool lost_nothing() const {
    return sent.adds_up() && sent.totals.lost == 0 && sent.totals.unknown == 0 &&
           rows_at_end == sent.totals.accepted + sent.totals.duplicate;
  }
};

// Streams `send` into a daemon that keeps a data folder, kills it (SIGKILL) when about half of the
// rows are in, and starts another one on the same folder while the sender waits. `ask` asks a
// question.
KilledResult run_killed(const std::string& program, std::vector<std::string> arguments,
                        SendOptions send, std::uint64_t rows,
                        const std::function<Provenance(Client&)>& ask);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DEMONSTRATION_KILLED_H_
