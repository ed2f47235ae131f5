// Runs a program as a shell would, and takes in what it says.
#ifndef WINDHOVER_TESTS_SYSTEM_RUN_PROGRAM_H_
#define WINDHOVER_TESTS_SYSTEM_RUN_PROGRAM_H_

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/temporary_folder.h"

namespace windhover::testing {

struct ProgramRun {
  int exit_code = -1;  // -1: a signal ended it
  std::string out;
  std::string error;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Standard input comes from the file `input`.
inline ProgramRun run_program(const std::string& program, std::vector<std::string> arguments,
                              const std::string& input = "/dev/null") {
  const std::string out = temporary_path("program_out");
  const std::string error = temporary_path("program_error");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kNew, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error.c_str(), kNew, 0600);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failure = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ProgramRun run;
  EXPECT_EQ(failure, 0) << "cannot start " << program;
  if (failure != 0) return run;
  int state = 0;
  EXPECT_EQ(waitpid(child, &state, 0), child);
  if (WIFEXITED(state)) run.exit_code = WEXITSTATUS(state);
  run.out = content_of(out);
  run.error = content_of(error);
  return run;
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_SYSTEM_RUN_PROGRAM_H_
