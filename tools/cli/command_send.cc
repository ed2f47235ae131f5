#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/progress.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/client/send.h"
#include "windhover/tools/data/hashed.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"
#include "windhover/tools/program/say.h"

namespace windhover {
namespace {

struct SendCommand {
  SendOptions send;
  ServerOptions server;
  bool progress = false;
  bool allow_skipped = false;
  bool json = false;
};

SendReport send_with_bar(SendCommand& o) {
  Progress bar(o.progress);
  o.send.on_progress = [&bar](double part, const std::string& text) { bar.draw(part, text); };
  o.send.on_note = [](const std::string& text) { say("note", text); };
  o.send.on_skipped = [](const std::string& text) { say("skipped", text); };
  return send_file(o.send);
}

void run_send(SendCommand& o) {
  o.send.address = o.server.address;
  o.send.connection = client_options_of(o.server);
  const SendReport report = send_with_bar(o);
  if (o.json) {
    fmt::print("{}\n", report.to_json().dump(2));
  } else {
    for (const ClientRefusedRow& row : report.refused) {
      fmt::print("row {} of those sent was refused: {}\n", row.row + 1, to_string(row.reason));
    }
    fmt::print("{}\n{}", report.closing_line(), describe_hashed(report.hashed));
    if (report.score) {
      fmt::print("scored before being sent, {} rows: log score {:.4f}, base rate {:.4f}\n{}",
                 report.score->count(), report.score->log_score(), report.score->base_log_score(),
                 report.score->table());
    }
  }
  if (!report.adds_up()) throw RunError("rows are unaccounted for");
  if (const std::string loss = report.loss_text(); !loss.empty()) throw RunError(loss);
  if (report.totals.sent > 0 && report.totals.refused == report.totals.sent) {
    throw RunError("the server refused every row");
  }
  if (o.allow_skipped) return;
  const std::string path = o.send.path == "-" ? "standard input" : o.send.path;
  if (const std::string skipped = report.skipped_text(path); !skipped.empty()) {
    throw RunError(skipped);
  }
}

}  // namespace

void add_send(CLI::App& app) {
  CLI::App* command = app.add_subcommand("send", "Stream a file or a pipe to a server");
  auto options = std::make_shared<SendCommand>();
  SendOptions& o = options->send;
  command->add_option("FILE", o.path, "CSV, plain or .gz; -: standard input")->required();
  add_server_options(*command, options->server,
                     "host:port, tls://host:port or unix:/path, the observe endpoint");
  command->add_option("--schema", o.schema, "TOML schema of the file")->required();
  command->add_option("--rate", o.rate, "Rows a second; 0: as fast as the server takes them");
  command->add_option("--batch", o.batch, "Rows a frame, at a rate a second's rows at most")
      ->transform(whole_number())
      ->capture_default_str();
  command
      ->add_option(
          "--producer", o.producer,
          "A number for each stream, below 2^63, with which another run of send, or another "
          "client, can go on with it; 0: one is drawn for this run")
      ->transform(whole_number());
  command
      ->add_option("--first-sequence", o.first_sequence,
                   "With --producer: the number of the file's first row in its stream, for a file "
                   "that goes on where another ended")
      ->transform(whole_number());
  command->add_flag(
      "--resume", o.resume,
      "With --producer: what the server has are the file's first rows; pass them over");
  command->add_flag("--append", o.append,
                    "With --producer: the file's rows come after what the server has");
  command->add_flag("--durable", o.durable,
                    "A row counts as accepted once it is on the server's disk");
  command
      ->add_option("--resend-bytes", o.resend_bytes,
                   "Bytes of rows kept for a server that loses them; a pipe has no others")
      ->transform(whole_number())
      ->capture_default_str();
  command
      ->add_option("--retry-for", o.retry_for,
                   "Seconds for which a broken connection is tried again")
      ->capture_default_str();
  command
      ->add_option("--wait", o.wait,
                   "Seconds for which a server that is not there yet is waited for")
      ->capture_default_str();
  command->add_flag("--allow-skipped", options->allow_skipped,
                    "End with 0 also where rows were skipped because a cell cannot be read");
  command->add_option("--limit", o.limit, "Rows at most; 0: all")->transform(whole_number());
  command->add_flag("--float", o.wire_float, "Send 32-bit floats");
  command->add_flag("--progress", options->progress,
                    "Draw the bar also where there is no terminal");
  command->add_option("--score", o.score_every, "Predict one row in so many before it is sent")
      ->transform(whole_number());
  command->add_option("--score-at", o.score_address, "The query endpoint for --score");
  command->add_option("--score-memory", o.score_memory, "Rows that its base rate remembers")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "One JSON object");
  add_exit_codes(*command,
                 "0: every row was sent and answered, but for rows without a value that the schema "
                 "says to skip. 1: rows were skipped because a cell cannot be read, without "
                 "--allow-skipped; or all rows were skipped, or refused, or some may be lost. 2: a "
                 "row or an option is wrong.");
  add_examples(
      *command,
      {{"windhover send house.csv --to 127.0.0.1:7171 --schema S.toml",
        "streams the rows of a file, and accounts for each"},
       {"cat house.csv | windhover send - --to 127.0.0.1:7171 --schema S.toml --producer 7",
        "rows of a pipe, as a stream that another run with --append goes on with"}});
  command->callback([options] { run_send(*options); });
}

}  // namespace windhover
