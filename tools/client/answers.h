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

// Connects or throws RunError with the client's sentence.
void connect_or_throw(Client& client, const std::string& address,
                      const ClientOptions& options = {});
// Throws RunError with the client's sentence when `status` is not kOk.
void check_reply(const Client& client, Status status, const char* doing);

// A schema must describe the rows of the server's model: number of features, dense or sparse and,
// when the server was given a schema too, the same names and encodings. UserError otherwise.
void check_schema(const Client& client, const Schema& schema);

// The model that the client speaks of stands still, by `windhover model pause`. False where the
// server does not say.
bool is_paused(Client& client);

nlohmann::ordered_json to_json(const Provenance& provenance);
nlohmann::ordered_json to_json(const ParameterSummary& summary);

// What an answer is about: the question says which of the optional parts were asked for.
struct AnswerForm {
  const PredictRequest& request;
  v1::ModelKind model;
  std::vector<std::string> class_names = {};  // of y = 0, 1, ...; empty: numbers
};

nlohmann::ordered_json to_json(const PredictiveSummary& summary, const AnswerForm& form);

// Why the status is not ok, with the number that says so; empty when it is.
std::string reason_text(const Provenance& provenance);
// One line: "ok: 250000 rows seen, ...".
std::string describe(const Provenance& provenance);

// How to read the columns of chains in a table of parameters.
inline constexpr std::string_view kChainsLegend =
    "ess: how many independent draws the chains' own are worth; r_hat: how far the chains agree; "
    "what chance makes of it stands further up, and the 1.01 that others ask for is for long "
    "chains";
// One line an x: the probability or value with its interval.
std::string describe(const PredictiveSummary& summary, const AnswerForm& form);

// Nanoseconds, readable: "23.4 us".
std::string duration_text(double nanoseconds);
// Bytes, readable: "12.3 MiB".
std::string bytes_text(double bytes);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_ANSWERS_H_
