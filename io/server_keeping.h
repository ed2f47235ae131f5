// What a server keeps on disk of its models: rows in a log, and checkpoints.
#ifndef WINDHOVER_IO_SERVER_KEEPING_H_
#define WINDHOVER_IO_SERVER_KEEPING_H_

#include <cstddef>
#include <cstdint>

#include "windhover/io/durable/checkpoint_progress.h"
#include "windhover/io/durable/log_progress.h"
#include "windhover/platform/result.h"
#include "windhover/platform/status.h"

namespace windhover {

struct ServerImpl;

// Server::kept(). Invariant: without ServerConfig::durable, and of a model that follows another,
// nothing is kept, and all progress is 0. It has no state: what is kept is Keeping's, and progress
// is written by the threads of log and checkpoints.
class ServerKeeping {
 public:
  explicit ServerKeeping(ServerImpl& server) noexcept : server_(server) {}
  ServerKeeping(const ServerKeeping&) = delete;
  ServerKeeping& operator=(const ServerKeeping&) = delete;

  // The threads that keep rows and checkpoints on disk; Server::start() does it, and so does
  // ServerModels::add(). Nothing without a folder, or when they are at work. After Server::open(),
  // before run_observe().
  Status start() noexcept;

  // After Server::join(), and when the learner's thread has ended: a checkpoint of all there is, so
  // that the next start has nothing to learn again. kUnsupported without a folder; otherwise
  // checkpoints() says why there is none.
  Status checkpoint_at_rest(std::size_t model = 0) noexcept;
  // Any thread, while serving: one more checkpoint as soon as can be. Its number among the
  // requests: checkpoints() says when it has been answered, and whether it was met.
  Result<std::uint64_t> request_checkpoint(std::size_t model = 0) noexcept;
  const LogProgress& log(std::size_t model = 0) const noexcept;
  const CheckpointProgress& checkpoints(std::size_t model = 0) const noexcept;
  // After Server::open(): which checkpoints were not good, and why; empty: none.
  const char* remarks(std::size_t model = 0) const noexcept;

 private:
  ServerImpl& server_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_KEEPING_H_
