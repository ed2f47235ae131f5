#ifndef WINDHOVER_TOOLS_DAEMON_CHILD_DAEMON_H_
#define WINDHOVER_TOOLS_DAEMON_CHILD_DAEMON_H_

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace windhover {

// The path of the heap counter in the build or installation of `program`, to be preloaded; empty
// where it was not built.
std::string heap_counter_beside(const std::string& program);

// A windhoverd in a process of its own, for programs that need a fresh one.
class ChildDaemon {
 public:
  // Starts `program` with `arguments` and waits for its line "ready". RunError when that does not
  // come; the child has said why on standard error by then. It logs errors only, unless `arguments`
  // set the level. `preload`: libraries as LD_PRELOAD takes them, before those of our own
  // environment; with libwindhover_heap_counter.so heap calls are counted.
  ChildDaemon(const std::string& program, std::vector<std::string> arguments,
              const std::string& preload = "");
  // Stops it if stop() was not called.
  ~ChildDaemon();
  ChildDaemon(const ChildDaemon&) = delete;
  ChildDaemon& operator=(const ChildDaemon&) = delete;

  const std::string& observe_address() const { return observe_address_; }
  const std::string& query_address() const { return query_address_; }
  const std::string& http_address() const { return http_address_; }  // empty: off
  std::uint64_t block_bytes() const { return block_bytes_; }
  // Rows that its folder held when it became ready; 0 without one.
  std::uint64_t recovered() const { return recovered_; }
  const std::string& ready_line() const { return ready_line_; }
  pid_t pid() const { return pid_; }

  struct Stopped {
    int exit_code = -1;
    std::uint64_t observations = 0;
    std::optional<std::uint64_t> heap_calls;  // since ready; none: nothing counted
    std::uint64_t peak_resident_bytes = 0;
  };
  // Asks it to stop, by default as a service manager would, and waits.
  Stopped stop(int signal = SIGTERM);

 private:
  std::string read_line();

  pid_t pid_ = -1;
  std::FILE* output_ = nullptr;
  std::string ready_line_;
  std::string observe_address_;
  std::string query_address_;
  std::string http_address_;
  std::uint64_t block_bytes_ = 0;
  std::uint64_t recovered_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_CHILD_DAEMON_H_
