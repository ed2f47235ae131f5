// A daemon at work whose log, output and exit a test looks at, with an environment of its own.
#ifndef WINDHOVER_TESTS_SYSTEM_LIVE_DAEMON_H_
#define WINDHOVER_TESTS_SYSTEM_LIVE_DAEMON_H_

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "windhover/tests/system/run_program.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing {

// Looks again until it is so; a minute at most.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// Listens on sockets of its own; logs as JSON into a file unless `more` says where.
class LiveDaemon {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  LiveDaemon(const std::string& name, std::vector<std::string> more,
             const Variables& variables = {})
      : log_(temporary_path(name + ".log")),
        error_(temporary_path(name + ".error")),
        out_(temporary_path(name + ".out")),
        observe_("unix:" + temporary_path(name + ".observe")),
        query_("unix:" + temporary_path(name + ".query")) {
    std::vector<std::string> arguments = {WINDHOVER_DAEMON,
                                          "--model.features",
                                          "1",
                                          "--engine.window_size",
                                          "1000",
                                          "--server.observe.tcp_address",
                                          "",
                                          "--server.observe.unix_path",
                                          observe_.substr(5),
                                          "--server.query.tcp_address",
                                          "",
                                          "--server.query.unix_path",
                                          query_.substr(5)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (std::ranges::find(more, "--process.log_file") == more.end()) {
      arguments.insert(arguments.end(),
                       {"--process.log_format", "json", "--process.log_file", log_});
    }
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (const auto& [variable, value] : variables) ::setenv(variable.c_str(), value.c_str(), 1);
    for (const auto& [path, descriptor] : {std::pair{out_, 1}, {error_, 2}}) {
      ::dup2(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor);
    }
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execv(WINDHOVER_DAEMON, argv.data());
    ::_exit(127);
  }
  ~LiveDaemon() {
    if (pid_ > 0) (void)stop(SIGKILL);
  }
  LiveDaemon(const LiveDaemon&) = delete;
  LiveDaemon& operator=(const LiveDaemon&) = delete;

  const std::string& observe() const { return observe_; }
  const std::string& query() const { return query_; }
  const std::string& log_file() const { return log_; }
  std::string output() const { return content_of(out_); }
  std::string error() const { return content_of(error_); }
  pid_t pid() const { return pid_; }

  // Whether it serves. Its complaint otherwise is in error().
  bool ready() const {
    return comes_true([&] { return output().starts_with("ready "); });
  }

  // The log's lines of that event so far; a line that is no JSON fails the test.
  std::vector<nlohmann::json> events(const std::string& name) const {
    std::vector<nlohmann::json> found;
    const std::string content = content_of(log_);
    for (std::size_t at = 0, end; (end = content.find('\n', at)) != std::string::npos;
         at = end + 1) {
      const std::string line = content.substr(at, end - at);
      EXPECT_TRUE(nlohmann::json::accept(line)) << line;
      if (!nlohmann::json::accept(line)) continue;
      nlohmann::json event = nlohmann::json::parse(line);
      if (event["event"] == name) found.push_back(std::move(event));
    }
    return found;
  }
  bool logs(const std::string& event) const {
    return comes_true([&] { return !events(event).empty(); });
  }

  // The exit code, or minus the signal.
  int stop(int signal = SIGTERM) {
    if (signal != 0) ::kill(pid_, signal);
    int state = 0;
    ::waitpid(pid_, &state, 0);
    pid_ = -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
  }
  // Waits for a daemon that ends by itself; the same.
  int wait() { return stop(0); }

 private:
  std::string log_, error_, out_, observe_, query_;
  pid_t pid_ = -1;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_SYSTEM_LIVE_DAEMON_H_
