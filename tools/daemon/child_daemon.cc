#include "windhover/tools/daemon/child_daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

constexpr const char* kLogLevel = "--process.log_level";

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

// Our own environment with `preload` in it, as execve() wants it.
std::vector<std::string> environment_with(const std::string& preload) {
  constexpr std::string_view kName = "LD_PRELOAD=";
  std::vector<std::string> all;
  std::string libraries = preload;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with(kName) && !preload.empty()) {
      libraries += ':';
      libraries += text.substr(kName.size());
    } else {
      all.emplace_back(text);
    }
  }
  if (!preload.empty()) all.push_back(std::string(kName) + libraries);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string heap_counter_beside(const std::string& program) {
  const std::filesystem::path prefix = std::filesystem::path(program).parent_path().parent_path();
  const std::filesystem::path library = prefix / "lib" / "libwindhover_heap_counter.so";
  return std::filesystem::exists(library) ? library.string() : "";
}

ChildDaemon::ChildDaemon(const std::string& program, std::vector<std::string> arguments,
                         const std::string& preload) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw RunError("no pipe for the daemon's output");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (std::ranges::find(arguments, kLogLevel) == arguments.end()) {
    arguments.insert(arguments.end(), {kLogLevel, "error"});
  }
  arguments.insert(arguments.begin(), program);
  std::vector<std::string> environment = environment_with(preload);
  const int failure = posix_spawn(&pid_, program.c_str(), &actions, nullptr,
                                  pointers_to(arguments).data(), pointers_to(environment).data());
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
  http_address_ = first_of(value_in(ready_line_, "http"));
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
