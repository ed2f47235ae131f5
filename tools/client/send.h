// Streams a file to a server and accounts for every row of it.
#ifndef WINDHOVER_TOOLS_CLIENT_SEND_H_
#define WINDHOVER_TOOLS_CLIENT_SEND_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tools/client/prequential.h"

namespace windhover {

struct SendOptions {
  std::string path;  // "-": standard input
  std::string address;
  ClientOptions connection;  // how it is reached; what is about rows is chosen below
  std::string schema;
  double rate = 0;             // rows a second; 0: as fast as the server takes them
  std::uint64_t batch = 256;   // rows a frame
  std::uint64_t producer = 0;  // that another run can go on as; 0: one is drawn
  // The number of the file's first row in the producer's stream; by default 0, where the server
  // must not know rows of it yet.
  std::optional<std::uint64_t> first_sequence;
  bool resume = false;  // what the server knows are the first rows of the file: they are skipped
  bool append = false;  // the file's rows come after what the server knows
  std::uint64_t limit = 0;  // rows of the file at most; 0: all
  double retry_for = 60;    // seconds for which a broken connection is tried again
  double wait = 5;          // seconds for which a server that is not there yet is waited for
  // Bytes of rows kept to be sent again: a pipe has nothing else to go back to.
  std::uint64_t resend_bytes = std::uint64_t{16} << 20;
  bool durable = false;  // rows count as accepted once they are on the server's disk
  bool wire_float = false;
  // Called a few times a second with the part done, 0 to 1, and a line about it.
  std::function<void(double, const std::string&)> on_progress;
  std::function<void(const std::string&)> on_note;  // what a user should know at once
  // The first rows that are skipped, each with line, column and why.
  std::function<void(const std::string&)> on_skipped;
  // Predict one row in so many, from the query endpoint at score_address, before it is sent; 0:
  // none.
  std::uint64_t score_every = 0;
  std::string score_address;
  double score_memory = 100'000;  // rows that the reference's base rate looks back on
};

struct SendReport {
  ObserveTotals totals;
  std::uint64_t skipped = 0;     // rows of the file that the schema skips
  std::uint64_t unreadable = 0;  // skipped rows with a cell that cannot be read
  std::uint64_t already = 0;     // with `resume`, rows that the server had already
  std::uint64_t reconnections = 0;
  std::uint64_t read_again = 0;  // how often the file was, from where the server stood
  bool durable = false;          // acknowledgements stood for the server's disk
  double seconds = 0;
  std::int64_t lag_p50_ns = 0;  // from a frame's being handed over to its acknowledgement's arrival
  std::int64_t lag_p99_ns = 0;
  std::int64_t lag_max_ns = 0;
  std::vector<ClientRefusedRow> refused;  // the first ones
  std::optional<Prequential> score;
  nlohmann::ordered_json hashed;  // HashTallies of the file's rows; empty: no feature is hashed

  // sent = accepted + refused + duplicate + unknown.
  bool adds_up() const;
  // How many rows may be missing from the posterior, and why; empty when none may.
  std::string loss_text() const;
  // Says which rows of the file the schema skipped though it does not say that they may be; empty
  // when it skipped none, or only rows without a value and not all of the file.
  std::string skipped_text(const std::string& path) const;
  std::string closing_line() const;
  nlohmann::ordered_json to_json() const;
};

// Rows go out when `batch` of them have been read, and those of a live pipe at the latest 20 ms
// after they were read. When the connection breaks it is tried again with growing pauses; what was
// not acknowledged is sent again, and what the server has lost: from memory, or a regular file by
// reading it again. UserError for the file, the schema or a model that does not fit it; RunError
// when the server stays away.
SendReport send_file(const SendOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_SEND_H_
