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

// Server::kept(). Without ServerConfig::durable, and for a model that follows another, nothing is
// kept and all progress is 0. It has no state of its own: see Keeping, LogProgress and
// CheckpointProgress. `model` is a place among the server's models.
class ServerKeeping {
 public:
  explicit ServerKeeping(ServerImpl& server) noexcept : server_(server) {}
  ServerKeeping(const ServerKeeping&) = delete;
  ServerKeeping& operator=(const ServerKeeping&) = delete;

  // Starts the threads that keep rows and checkpoints on disk; Server::start() does it, and so does
  // ServerModels::add(). No effect without a folder, or when they are at work. After
  // Server::open(), before run_observe().
  Status start() noexcept;

  // After Server::join(), and when the learner's thread has ended: takes a checkpoint of all rows,
  // so that the next start has nothing to learn again. kUnsupported without a folder; kNotReady
  // while the log is not learned yet; after another error checkpoints() has the reason.
  Status checkpoint_at_rest(std::size_t model = 0) noexcept;
  // Asks for a checkpoint as soon as possible and returns the request's number: checkpoints() says
  // when it is answered, and whether it was met. Any thread, while serving.
  Result<std::uint64_t> request_checkpoint(std::size_t model = 0) noexcept;
  const LogProgress& log(std::size_t model = 0) const noexcept;
  const CheckpointProgress& checkpoints(std::size_t model = 0) const noexcept;
  // After Server::open(): what was wrong in the folder that the server could do without, such as
  // bad checkpoints; empty: nothing.
  const char* remarks(std::size_t model = 0) const noexcept;

 private:
  ServerImpl& server_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_KEEPING_H_
