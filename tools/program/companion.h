// Subcommands that are programs of their own: `windhover bench` starts `windhover-bench`.
#ifndef WINDHOVER_TOOLS_PROGRAM_COMPANION_H_
#define WINDHOVER_TOOLS_PROGRAM_COMPANION_H_

namespace CLI {
class App;
}

namespace windhover {

// Whether it is one of those that add_companions() has added.
bool is_companion(const CLI::App& command);

// Lists them in the help of `windhover`.
void add_companions(CLI::App& app);

// If the first argument names one, this process becomes it, with the arguments after that, and the
// call does not return. The program is looked for where this one lies, then in PATH. RunError: it
// is in neither.
void start_companion(int argc, char** argv);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PROGRAM_COMPANION_H_
