// The subcommands of `windhover`. The callback of each does its work and throws UserError or
// RunError.
#ifndef WINDHOVER_TOOLS_CLI_COMMANDS_H_
#define WINDHOVER_TOOLS_CLI_COMMANDS_H_

namespace CLI {
class App;
}

namespace windhover {

void add_backup(CLI::App& app);
void add_checkpoint(CLI::App& app);
void add_encode(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_events(CLI::App& app);
void add_fit(CLI::App& app);
void add_health(CLI::App& app);
void add_log(CLI::App& app);
void add_models(CLI::App& app);
void add_plan(CLI::App& app);
void add_posterior(CLI::App& app);
void add_predict(CLI::App& app);
void add_restore(CLI::App& app);
void add_samplers(CLI::App& app);
void add_schema(CLI::App& app);
void add_send(CLI::App& app);
void add_status(CLI::App& app);
void add_model(CLI::App& app);
void add_host_model(CLI::App& group);  // to `windhover model`
void add_token(CLI::App& app);
void add_top(CLI::App& app);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_COMMANDS_H_
