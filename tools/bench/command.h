// The options of `windhover bench`.
#ifndef WINDHOVER_TOOLS_BENCH_COMMAND_H_
#define WINDHOVER_TOOLS_BENCH_COMMAND_H_

namespace CLI {
class App;
}

namespace windhover {

// Parsing them runs the suite and prints its result. UserError, RunError.
void add_bench(CLI::App& app);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_COMMAND_H_
