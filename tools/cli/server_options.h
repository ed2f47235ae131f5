// How a command reaches a server, and of which model it speaks.
#ifndef WINDHOVER_TOOLS_CLI_SERVER_OPTIONS_H_
#define WINDHOVER_TOOLS_CLI_SERVER_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "windhover/io/client.h"

namespace windhover {

struct ServerOptions {
  std::string address;
  std::string model;  // empty: the server's first
};

// --to and --model. `options` outlives the command.
void add_server_options(CLI::App& command, ServerOptions& options);

// Connects or throws, as connect_or_throw().
void connect_or_throw(Client& client, const ServerOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_SERVER_OPTIONS_H_
