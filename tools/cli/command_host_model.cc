// Models that are added to a server at work, replaced and removed.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/served_model.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

struct HostCommand {
  ServerOptions server;
  v1::HostAction action = v1::HOST_ACTION_UNSPECIFIED;
  std::string name;
  std::string file;               // empty: none
  std::vector<std::string> sets;  // KEY=VALUE
  bool delete_data = false;
  bool json = false;
};

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 128; }

// The protocol has the configuration in ASCII (windhover.proto), and the server closes the
// connection of a client that sends anything else.
void check_ascii(std::string_view text, const std::string& file) {
  const auto other = std::ranges::find_if_not(text, is_ascii);
  if (other == text.end()) return;
  const std::string_view before(text.begin(), other);
  throw UserError(fmt::format(
      "{}:{}:{}: the byte 0x{:02x} is not allowed: the configuration of a model that is added is "
      "ASCII, comments included",
      file, 1 + std::ranges::count(before, '\n'), before.size() - before.rfind('\n'),
      static_cast<unsigned char>(*other)));
}

// A number or a truth value as TOML has them, otherwise a text.
void insert(toml::table& table, std::string_view key, std::string_view value) {
  std::int64_t whole = 0;
  double real = 0;
  const auto is = [&](auto& number) {
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
    return parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
  };
  if (value == "true" || value == "false") {
    table.insert_or_assign(key, value == "true");
  } else if (is(whole)) {
    table.insert_or_assign(key, whole);
  } else if (is(real)) {
    table.insert_or_assign(key, real);
  } else {
    table.insert_or_assign(key, std::string(value));
  }
}

// Sets one key, as in "model.features=3", over what the file says.
void set(toml::table& document, const std::string& text) {
  if (!std::ranges::all_of(text, is_ascii)) {
    throw UserError(fmt::format("--set {}: only ASCII is allowed", text));
  }
  const std::size_t equals = text.find('=');
  const std::size_t dot = text.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 >= equals) {
    throw UserError(
        fmt::format("--set {}: TABLE.KEY=VALUE is expected, say model.features=3", text));
  }
  const std::string table = text.substr(0, dot);
  if (!document.contains(table)) document.insert(table, toml::table());
  toml::table* const inner = document.get(table)->as_table();
  if (inner == nullptr) throw UserError(fmt::format("--set {}: {} is no table", text, table));
  insert(*inner, std::string_view(text).substr(dot + 1, equals - dot - 1),
         std::string_view(text).substr(equals + 1));
}

// The text that is sent. The server parses it once more, and says what is wrong with it.
std::string configuration_of(const HostCommand& o) {
  toml::table document;
  if (!o.file.empty()) {
    std::ifstream in(o.file);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw UserError(fmt::format("cannot read the configuration {}", o.file));
    check_ascii(text.str(), o.file);
    try {
      document = toml::parse(text.str(), o.file);
    } catch (const toml::parse_error& error) {
      throw UserError(fmt::format("{}:{}:{}: {}", o.file, error.source().begin.line,
                                  error.source().begin.column, error.description()));
    }
    if (o.sets.empty()) return text.str();  // its lines and columns are those of the file
  }
  for (const std::string& one : o.sets) set(document, one);
  std::ostringstream text;
  text << document;
  return text.str();
}

nlohmann::ordered_json to_json(const HostCommand& o, const v1::HostModelResult& result) {
  return {{"name", o.name},
          {"needed_bytes", result.needed_bytes()},
          {"free_bytes", result.free_bytes()}};
}

[[noreturn]] void refuse_name(const std::string& name) {
  throw UserError(
      fmt::format("{} is no name of a model: 1 to 63 letters, digits, '_', '-' and '.', no '.' "
                  "first",
                  name));
}

void run_host(const HostCommand& o) {
  if (!is_model_name(o.name)) refuse_name(o.name);
  v1::HostModel order;
  order.set_action(o.action);
  order.set_name(o.name);
  order.set_delete_data(o.delete_data);
  if (o.action != v1::HOST_ACTION_REMOVE) order.set_configuration(configuration_of(o));
  Client client;
  connect_or_throw(client, o.server);
  v1::HostModelResult result;
  const Status status = client.host_model(order, result);
  if (client.refusal() == v1::REASON_UNSUPPORTED) {
    throw UserError("the server gives no memory to models that are added (server.added.memory)");
  }
  if (client.refusal() == v1::REASON_INVALID_ARGUMENT) refuse_name(o.name);
  check_reply(client, status, "the order");
  if (result.reason() != v1::REASON_OK) throw UserError(result.error());
  if (o.json) {
    fmt::print("{}\n", to_json(o, result).dump(2));
    return;
  }
  const bool goes = o.action == v1::HOST_ACTION_REMOVE;
  fmt::print("{} {}: {} {}, {} free\n", o.name, goes ? "is removed" : "is served",
             bytes_text(static_cast<double>(result.needed_bytes())), goes ? "given back" : "taken",
             bytes_text(static_cast<double>(result.free_bytes())));
}

}  // namespace

void add_host_model(CLI::App& group) {
  const auto add = [&](const char* name, const char* help, v1::HostAction action) {
    CLI::App* const command = group.add_subcommand(name, help);
    auto options = std::make_shared<HostCommand>();
    options->action = action;
    add_server_options(*command, options->server);
    command->add_option("NAME", options->name, "The model's name")->required();
    if (action != v1::HOST_ACTION_REMOVE) {
      command->add_option("FILE", options->file,
                          "TOML: the tables model, sampler, engine and labels");
      command->add_option("--set", options->sets, "TABLE.KEY=VALUE, on top of the file")
          ->allow_extra_args(false);
    }
    command->add_flag("--delete-data", options->delete_data,
                      action == v1::HOST_ACTION_REMOVE
                          ? "Delete what is on disk of it; otherwise it stays"
                          : "Begin without what is on disk under its name, and delete that; "
                            "otherwise it goes on from there");
    command->add_flag("--json", options->json, "As JSON");
    command->callback([options] { run_host(*options); });
  };
  add("add", "The server serves one model more", v1::HOST_ACTION_ADD);
  add("replace", "One that was added makes place for another one of its name",
      v1::HOST_ACTION_REPLACE);
  add("remove", "One that was added is served no more", v1::HOST_ACTION_REMOVE);
}

}  // namespace windhover
