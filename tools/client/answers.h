// Answers of a server, for people and as JSON; and how a command reaches the server.
#ifndef WINDHOVER_TOOLS_CLIENT_ANSWERS_H_
#define WINDHOVER_TOOLS_CLIENT_ANSWERS_H_

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// Connects. UserError for an address or options that cannot be right, RunError with the client's
// sentence otherwise.
void connect_or_throw(Client& client, const std::string& address,
                      const ClientOptions& options = {});
// Throws RunError with the client's sentence when `status` is not kOk.
void check_reply(const Client& client, Status status, const char* doing);

// UserError unless the schema describes the rows of the server's model: number of features, dense
// or sparse, offset, weight, trials, and, where the server was given a schema too, names and
// encodings.
void check_schema(const Client& client, const Schema& schema);

// Whether the model that the client is connected to is paused (`windhover model pause`). False
// where the server does not say.
bool is_paused(Client& client);

nlohmann::ordered_json to_json(const Provenance& provenance);
nlohmann::ordered_json to_json(const ParameterSummary& summary);

// What the fields of an answer mean: the request says which optional parts were asked for.
struct AnswerForm {
  const PredictRequest& request;
  v1::ModelKind model;
  std::vector<std::string> class_names = {};  // of y = 0, 1, ...; empty: numbers
};

nlohmann::ordered_json to_json(const PredictiveSummary& summary, const AnswerForm& form);

// Why the status is not ok, with the number behind that; empty when it is ok.
std::string reason_text(const Provenance& provenance);
// One line: "ok: 250000 rows seen, ...".
std::string describe(const Provenance& provenance);

// How to read the columns of chains in a table of parameters.
inline constexpr std::string_view kChainsLegend =
    "ess: how many independent draws the chains' own are worth; r_hat: how far the chains agree; "
    "what chance makes of it stands further up, and the 1.01 that others ask for is for long "
    "chains";
// The probability or value at one x with its interval, and what else was asked for; a line, or
// several.
std::string describe(const PredictiveSummary& summary, const AnswerForm& form);

// Nanoseconds, readable: "23.4 us".
std::string duration_text(double nanoseconds);
// Bytes, readable: "12.3 MiB".
std::string bytes_text(double bytes);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_ANSWERS_H_
