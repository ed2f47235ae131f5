// How a command reaches a server, and whether the server is the right one.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "windhover/runtime/config.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/error.h"

namespace windhover {

void connect_or_throw(Client& client, const std::string& address, const ClientOptions& options) {
  const Status status = client.connect(address, options);
  if (status == Status::kInvalidArgument) throw UserError(client.error_text());
  if (status == Status::kMalformed) {
    throw RunError(fmt::format(
        "{} does not speak Windhover's protocol: the addresses of a daemon's observe and query "
        "endpoints are expected, not that of its HTTP ({})",
        address, client.error_text()));
  }
  if (client.refusal() == v1::REASON_UNKNOWN_MODEL) {
    throw RunError(fmt::format("connecting: {}; `windhover model list --to {}` names the models",
                               client.error_text(), address));
  }
  check_reply(client, status, "connecting");
}

void check_reply(const Client& client, Status status, const char* doing) {
  if (ok(status)) return;
  const std::string_view text = client.error_text();
  const std::string_view word = to_string(status);
  const bool is_said = text.find(word) != std::string_view::npos;
  throw RunError(fmt::format("{}: {}{}", doing, text, is_said ? "" : fmt::format(" ({})", word)));
}

bool is_paused(Client& client) {
  std::vector<v1::ModelState> states;
  if (!ok(client.models(states))) return false;
  const auto mine = std::ranges::find_if(states, [&](const v1::ModelState& state) {
    return state.name() == client.welcome().model_name();
  });
  return mine != states.end() && mine->paused();
}

namespace {

// Used where Welcome has no schema_fingerprint, because the server is older or has no schema. Its
// fingerprint then covers all that gives a row its meaning; a server without a schema takes any.
bool may_be_of(const v1::Welcome& welcome, const Schema& schema) {
  ModelConfig model;
  model.features = welcome.features();
  model.max_nonzeros = welcome.max_nonzeros();
  model.offset = welcome.takes_offsets();
  model.weight = welcome.takes_weights();
  for (const ModelEntry& entry : model_registry()) {
    model.name = entry.name;
    for (const bool intercept : {true, false}) {
      model.intercept = intercept;
      for (const std::uint64_t meaning : {schema.fingerprint(), std::uint64_t{0}}) {
        if (fingerprint(model, welcome.dimension(), meaning) == welcome.fingerprint()) return true;
      }
    }
  }
  return false;
}

}  // namespace

void check_schema(const Client& client, const Schema& schema) {
  const v1::Welcome& welcome = client.welcome();
  if (schema.features() != welcome.features()) {
    throw UserError(
        fmt::format("the schema has {} features, the server's model {}: give the schema that the "
                    "server was started with",
                    schema.features(), welcome.features()));
  }
  if (schema.sparse() != (welcome.max_nonzeros() > 0)) {
    throw UserError(fmt::format("the schema makes {} rows, the server takes {} ones",
                                schema.sparse() ? "sparse" : "dense",
                                schema.sparse() ? "dense" : "sparse"));
  }
  if (schema.sparse() && schema.max_nonzeros() > welcome.max_nonzeros()) {
    throw UserError(fmt::format("rows of the schema have up to {} nonzeros, the server takes {}",
                                schema.max_nonzeros(), welcome.max_nonzeros()));
  }
  if (schema.has_offset() && !welcome.takes_offsets()) {
    throw UserError(
        fmt::format("rows of the schema have an offset from the field {}, the server's model takes "
                    "none: start it with this schema, or with model.offset = true",
                    schema.parts().offset->field));
  }
  if (schema.has_weight() && !welcome.takes_weights()) {
    throw UserError(
        fmt::format("rows of the schema have a weight from the field {}, the server's model counts "
                    "every row once: start it with this schema, or with model.weight = true",
                    *schema.parts().weight));
  }
  if (schema.has_trials() != welcome.takes_trials()) {
    throw UserError(
        schema.has_trials()
            ? fmt::format("rows of the schema have trials from the field {}, the server's model "
                          "takes none: start it with this schema, or with model.name = binomial",
                          *schema.target_rule().trials)
            : "the server's model is binomial, and the schema says no trials: add trials = "
              "\"FIELD\" to it");
  }
  const std::uint64_t meaning = welcome.schema_fingerprint();
  if (meaning != 0 ? meaning != schema.fingerprint() : !may_be_of(welcome, schema)) {
    throw UserError(
        "the schema has other feature names or encodings than the one the server was started with");
  }
}

}  // namespace windhover
