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
  ClientOptions connection;  // how the server is reached; what concerns rows is set below
  std::string schema;
  double rate = 0;             // rows a second; 0: as fast as the server takes them
  std::uint64_t batch = 256;   // rows a frame
  std::uint64_t producer = 0;  // with which another run can go on; 0: one is drawn
  // The sequence number of the file's first row; none: 0, and the server must not have rows of the
  // producer yet.
  std::optional<std::uint64_t> first_sequence;
  bool resume = false;      // the rows that the server has are the first ones of the file
  bool append = false;      // the file's rows come after those that the server has
  std::uint64_t limit = 0;  // rows of the file at most; 0: all
  double retry_for = 60;    // seconds for which a broken connection is tried again
  double wait = 5;          // seconds for which a server that is not there yet is waited for
  // Bytes of acknowledged rows kept to be sent again to a server that loses them; a pipe has no
  // other copy.
  std::uint64_t resend_bytes = std::uint64_t{16} << 20;
  bool durable = false;  // rows count as accepted once they are on the server's disk
  bool wire_float = false;
  // Called a few times a second with the part done, 0 to 1, and a line about it.
  std::function<void(double, const std::string&)> on_progress;
  std::function<void(const std::string&)> on_note;  // what a user should know at once
  // Called with the first rows that are skipped: line, column and why.
  std::function<void(const std::string&)> on_skipped;
  // Predicts one row in so many, at the query endpoint score_address, before it is sent; 0: none.
  std::uint64_t score_every = 0;
  std::string score_address;
  double score_memory = 100'000;  // rows that the base rate remembers
};

struct SendReport {
  ObserveTotals totals;
  std::uint64_t skipped = 0;     // rows of the file that the schema skips
  std::uint64_t unreadable = 0;  // skipped rows with a cell that cannot be read
  std::uint64_t already = 0;     // with `resume`, rows that the server had already
  std::uint64_t reconnections = 0;
  std::uint64_t read_again = 0;  // how often the file was read again
  bool durable = false;          // acknowledgements mean: on the server's disk
  double seconds = 0;
  std::int64_t lag_p50_ns = 0;  // from handing over a frame to its acknowledgement
  std::int64_t lag_p99_ns = 0;
  std::int64_t lag_max_ns = 0;
  std::vector<ClientRefusedRow> refused;  // the first ones
  std::optional<Prequential> score;
  nlohmann::ordered_json hashed;  // HashTallies of the file's rows; empty: no feature is hashed

  // sent = accepted + refused + duplicate + unknown.
  bool adds_up() const;
  // How many rows may be missing from the posterior, and why; empty when none is.
  std::string loss_text() const;
  // Says how many rows were skipped because a cell cannot be read, or that every row was skipped;
  // otherwise empty.
  std::string skipped_text(const std::string& path) const;
  std::string closing_line() const;
  nlohmann::ordered_json to_json() const;
};

// Sends rows when `batch` of them have been read; those of a live pipe at most 20 ms after they
// were read. When the connection breaks it is tried again with growing pauses. What was not
// acknowledged is sent again, and so is what the server has lost: from memory, or by reading a
// regular file again. UserError for what is wrong with the options, the file or the schema;
// RunError when the server stays away.
SendReport send_file(const SendOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_SEND_H_
