#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "windhover/io/access/credential.h"
#include "windhover/io/access/identity_file.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

struct TokenOptions {
  std::string name;
  std::vector<std::string> roles;
  std::vector<std::string> models = {"*"};
  std::string out;
};

std::string hexadecimal(const Sha256& bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); }

// The prefix lets a search find a token that has leaked.
std::string new_token() {
  Sha256 secret{};
  if (RAND_priv_bytes(secret.data(), static_cast<int>(secret.size())) != 1) {
    throw RunError("the system gives no random numbers");
  }
  std::string token = "windhover_" + hexadecimal(secret);
  OPENSSL_cleanse(secret.data(), secret.size());
  return token;
}

// Writes a new file that only its owner can read; refuses where there is one already.
void write_new(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  if (file >= 0) ::close(file);
  if (!written) throw UserError(fmt::format("cannot write {}: {}", path, std::strerror(why)));
}

void run_new(const TokenOptions& o) {
  std::string token = new_token();
  const std::string line =
      fmt::format("{} {} {} {}", o.name, fmt::join(o.roles, ","), fmt::join(o.models, ","),
                  hexadecimal(Credential::of_token(token).key));
  // Judged as the server would judge it.
  IdentityLine read;
  const bool user = o.name.starts_with("uid:") || o.name.starts_with("cert:");
  if (const char* const wrong =
          user ? "uid: and cert: need no token" : read_identity_line(line, read)) {
    throw UserError(fmt::format("the line \"{}\" would be refused: {}", line, wrong));
  }
  if (read.who.kind == Credential::Kind::kNone) throw UserError("a name begins with no #");
  if (!o.out.empty()) {
    write_new(o.out, token + "\n");
    fmt::print(stderr, "the token is in {}; this line is for server.identities_file:\n", o.out);
    fmt::print("{}\n", line);  // nothing else on standard output, which may be appended to the file
  } else {
    fmt::print(
        "the token, which is shown this once; keep it in a file for --token-file:\n\n{}\n\n"
        "the line for server.identities_file:\n\n{}\n",
        token, line);
  }
  OPENSSL_cleanse(token.data(), token.size());
}

}  // namespace

void add_token(CLI::App& app) {
  CLI::App* group = app.add_subcommand("token", "Make tokens for a server that asks who is there");
  group->require_subcommand(1);
  CLI::App* command = group->add_subcommand(
      "new", "A random token, and the line that lets the server know it by its SHA-256");
  auto options = std::make_shared<TokenOptions>();
  command->add_option("NAME", options->name, "Of the identity")->required();
  command->add_option("--role", options->roles, "observe, query or admin; several times")
      ->required()
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"observe", "query", "admin"}));
  command->add_option("--model", options->models, "A model's name; several times; nothing: all")
      ->allow_extra_args(false);
  command->add_option(
      "--out", options->out,
      "A new file of mode 0600 that gets the token; the line alone is then printed");
  add_examples(*command,
               {{"windhover token new feeder --role observe --out feeder.token >> identities",
                 "a token for who sends rows, and its line at the end of the identities file"},
                {"windhover token new dashboard --role query --model default --out dashboard.token",
                 "one that may ask about one model, and nothing else"}});
  command->callback([options] { run_new(*options); });
}

}  // namespace windhover
