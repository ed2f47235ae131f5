#include "windhover/tools/daemon/child_daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

// The text behind "name=" up to the next blank; empty when it is not there.
std::string value_in(const std::string& line, const std::string& name) {
  const std::size_t found = line.find(" " + name + "=");
  if (found == std::string::npos) return "";
  const std::size_t begin = found + name.size() + 2;
  return line.substr(begin, line.find_first_of(" \n", begin) - begin);
}

std::uint64_t number_in(const std::string& line, const std::string& name) {
  return std::strtoull(value_in(line, name).c_str(), nullptr, 10);
}

// The first of the addresses of an endpoint.
std::string first_of(const std::string& addresses) {
  return addresses.substr(0, addresses.find(','));
}

}  // namespace

ChildDaemon::ChildDaemon(const std::string& program, std::vector<std::string> arguments) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw RunError("no pipe for the daemon's output");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int failure = posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  output_ = fdopen(ends[0], "r");
  if (failure != 0) {
    pid_ = -1;
    if (output_ != nullptr) std::fclose(output_);
    throw RunError(fmt::format("cannot start {}", program));
  }
  ready_line_ = read_line();
  observe_address_ = first_of(value_in(ready_line_, "observe"));
  query_address_ = first_of(value_in(ready_line_, "query"));
  block_bytes_ = number_in(ready_line_, "block");
  recovered_ = number_in(ready_line_, "recovered");
  if (!ready_line_.starts_with("ready ") || observe_address_.empty() || query_address_.empty()) {
    stop();
    throw RunError(fmt::format("{} did not become ready", program));
  }
}

ChildDaemon::~ChildDaemon() {
  if (pid_ > 0) stop();
}

std::string ChildDaemon::read_line() {
  std::array<char, 1024> buffer{};
  if (output_ == nullptr) return "";
  const char* got = std::fgets(buffer.data(), static_cast<int>(buffer.size()), output_);
  return got != nullptr ? std::string(got) : std::string();
}

ChildDaemon::Stopped ChildDaemon::stop(int signal) {
  Stopped stopped;
  if (pid_ <= 0) return stopped;
  kill(pid_, signal);
  const std::string line = read_line();
  int state = 0;
  waitpid(pid_, &state, 0);
  pid_ = -1;
  std::fclose(output_);
  output_ = nullptr;
  if (WIFEXITED(state)) stopped.exit_code = WEXITSTATUS(state);
  stopped.observations = number_in(line, "observations");
  stopped.peak_resident_bytes = number_in(line, "peak_resident");
  const std::string heap = value_in(line, "heap_calls");
  if (!heap.empty() && heap != "null") stopped.heap_calls = number_in(line, "heap_calls");
  return stopped;
}

}  // namespace windhover
