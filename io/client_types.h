// Options of a client, the rows it sends, and what became of them.
#ifndef WINDHOVER_IO_CLIENT_TYPES_H_
#define WINDHOVER_IO_CLIENT_TYPES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "windhover/io/tls/client_tls.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/platform/status.h"

namespace windhover {

struct ClientOptions {
  // Whose stream this is; with it each row is stored once, even if a connection breaks. 0: with
  // `resend` a number is drawn for the life of this client, if the server can forget such producers
  // (Welcome.forgets_drawn). Another number, below 2^63, is the stream's for good: another process
  // can take the stream up, but it is never in two places at once.
  std::uint64_t producer = 0;
  // False, with producer 0 alone: rows on their way when a connection breaks are learned or lost,
  // and no rows are kept here.
  bool resend = true;
  std::uint64_t first_sequence = 0;  // of the first row sent; only with a producer
  // The rows before first_sequence will never be sent: a server that does not know the producer
  // begins there. Otherwise it refuses (REASON_UNKNOWN_PRODUCER) unless first_sequence is 0.
  bool begins_here = false;
  // LOGGED: connect() fails (REASON_NOT_DURABLE) where an acknowledgement would not mean the disk.
  v1::Durability durability = v1::DURABILITY_UNSPECIFIED;
  std::string model = {};         // by the server's name for it; empty: its first
  std::string token = {};         // shows who the client is to a server with identities
  ClientTlsOptions tls = {};      // for addresses with tls://, or where tls.on is true
  std::uint64_t fingerprint = 0;  // what this client believes a row means; 0: do not check
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds reply_timeout{10'000};  // without a byte coming or going
  bool wire_float = false;                          // send features and targets as 32-bit floats
  std::size_t max_rows_per_frame = 0;               // 0: as many as the server takes
  // Bytes of frames kept to be sent again: those on their way, for which send_observe() waits when
  // they are more, and as many acknowledged ones as there is room for until they are on the
  // server's disk.
  std::size_t resend_bytes = std::size_t{16} << 20;
  std::chrono::milliseconds retry_for{60'000};  // how long reconnect() goes on trying; 0: once
};

// Rows to be sent. Dense: features holds rows x Welcome.features values and indices is empty.
// Sparse: values, columns (increasing within a row) and, for each row, where its values end.
struct ObserveRows {
  std::span<const double> features;
  std::span<const double> targets;  // one a row
  std::span<const std::uint32_t> indices;
  std::span<const std::uint32_t> row_ends;
  std::span<const double> offsets = {};  // one a row, where Welcome.takes_offsets; empty: all 0
  std::span<const double> weights = {};  // likewise, where Welcome.takes_weights; empty: all 1
  std::span<const double> trials = {};   // likewise; where Welcome.takes_trials, and then needed
};

struct ClientRefusedRow {
  std::uint64_t row = 0;  // counted over all rows this client has sent, from 0
  Status reason = Status::kOk;
};

// What became of the rows: once everything is acknowledged, sent = accepted + refused + duplicate +
// unknown. A row that was sent again after a reconnection counts as sent once, and as accepted or,
// if the first copy had arrived, as duplicate. Unknown are rows that were on their way when a
// connection without `resend` broke, or whose drawn producer the server has forgotten meanwhile:
// they were learned or lost, and are not sent again.
// An acknowledged row can still be lost where the server keeps no log, or has lost it: reconnect()
// tells that, and counts it here.
struct ObserveTotals {
  std::uint64_t sent = 0;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t unknown = 0;
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_acknowledged = 0;
  std::uint64_t head = 0;           // as the server said last
  std::uint64_t producer_next = 0;  // likewise
  // How many of the acknowledged rows, oldest first, the server has said are on its disk.
  std::uint64_t durable = 0;
  // Rows that were acknowledged before the server lost them, and are sent again: from here, or
  // after go_back(), where they count in `sent` again.
  std::uint64_t restored = 0;
  // Rows lost and not sent again. Without `resend` it is an upper bound, as far as Welcome tells.
  std::uint64_t lost = 0;
  std::uint64_t histories = 0;  // how often the server came back as another instance
};

// Rows of the stream that neither the server nor the client has any more.
struct MissingRows {
  std::uint64_t first = 0;  // sequence number
  std::uint64_t count = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CLIENT_TYPES_H_
