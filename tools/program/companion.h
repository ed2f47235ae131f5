// Subcommands that are programs of their own: `windhover bench` starts `windhover-bench`.
#ifndef WINDHOVER_TOOLS_PROGRAM_COMPANION_H_
#define WINDHOVER_TOOLS_PROGRAM_COMPANION_H_

namespace CLI {
class App;
}

namespace windhover {

// Whether add_companions() has added this command.
bool is_companion(const CLI::App& command);

// Adds them to the help of `windhover`.
void add_companions(CLI::App& app);

// If the first argument names one, this process becomes that program, with the arguments after it,
// and the call does not return. The program is looked for beside this one, then in PATH. RunError
// where it cannot be started.
void start_companion(int argc, char** argv);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRAM_COMPANION_H_
