#include "windhover/tools/cli/server_options.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

#include "windhover/io/access/credential.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

// The first line of the file. A file that others may read or write is refused.
std::string token_in(const std::string& path) {
  struct stat facts {};
  std::ifstream file(path);
  if (!file || ::stat(path.c_str(), &facts) != 0) {
    throw UserError(fmt::format("--token-file {} cannot be read", path));
  }
  if (S_ISREG(facts.st_mode) && (facts.st_mode & 077) != 0) {
    throw UserError(fmt::format(
        "--token-file {} may be read or written by others than its owner; chmod 600 it", path));
  }
  std::string token;
  std::getline(file, token);
  token.erase(token.find_last_not_of(" \t\r") + 1);
  if (token.empty() || token.size() > Credential::kLongestToken) {
    throw UserError(fmt::format("--token-file {} holds no token: a line of 1 to {} characters",
                                path, Credential::kLongestToken));
  }
  return token;
}

}  // namespace

void add_server_options(CLI::App& command, ServerOptions& options, const std::string& to) {
  command.add_option("--to", options.address, to)->required();
  command
      .add_option("--token-file", options.token_file,
                  "The file with the token that says who asks, for its owner alone")
      ->envname("WINDHOVER_TOKEN_FILE");
  command.add_option("--model", options.model, "Of several models the one that is meant, by name");
  ClientTlsOptions& tls = options.tls;
  command.add_option("--ca", tls.ca_file,
                     "tls://: who vouches for the server, PEM; nothing: the system's");
  command.add_option("--server-name", tls.server_name,
                     "tls://: in its certificate; nothing: the host");
  auto* key = command.add_option("--key", tls.key, "tls://: of --certificate, PEM");
  auto* own =
      command.add_option("--certificate", tls.certificate, "tls://: that says who asks, PEM");
  own->needs(key);
  key->needs(own);
}

ClientOptions client_options_of(const ServerOptions& options) {
  ClientOptions client;
  client.model = options.model;
  if (!options.token_file.empty()) client.token = token_in(options.token_file);
  client.tls = options.tls;
  return client;
}

void connect_or_throw(Client& client, const ServerOptions& options) {
  connect_or_throw(client, options.address, client_options_of(options));
}

}  // namespace windhover
