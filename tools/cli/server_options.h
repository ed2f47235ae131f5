#ifndef WINDHOVER_TOOLS_CLI_SERVER_OPTIONS_H_
#define WINDHOVER_TOOLS_CLI_SERVER_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "windhover/io/client.h"

namespace windhover {

// The flags with which a command reaches a server and says who asks.
struct ServerOptions {
  std::string address;
  std::string token_file;
  ClientTlsOptions tls;
  std::string model;  // empty: the server's first
};

// --to, which is required, and the others. `options` outlives the command.
void add_server_options(CLI::App& command, ServerOptions& options,
                        const std::string& to = "host:port, tls://host:port or unix:/path");

// UserError for a token file that cannot be used.
ClientOptions client_options_of(const ServerOptions& options);

void connect_or_throw(Client& client, const ServerOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_SERVER_OPTIONS_H_
