#include "windhover/tools/cli/server_options.h"

#include "windhover/tools/client/answers.h"

namespace windhover {

void add_server_options(CLI::App& command, ServerOptions& options) {
  command.add_option("--to", options.address, "host:port or unix:/path")->required();
  command.add_option("--model", options.model, "Of several models the one that is meant, by name");
}

void connect_or_throw(Client& client, const ServerOptions& options) {
  ClientOptions client_options;
  client_options.model = options.model;
  connect_or_throw(client, options.address, client_options);
}

}  // namespace windhover
