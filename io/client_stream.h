// A client's stream of rows: sent pipelined, counted, and taken up again when a connection breaks.
#ifndef WINDHOVER_IO_CLIENT_STREAM_H_
#define WINDHOVER_IO_CLIENT_STREAM_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "windhover/io/client_connection.h"
#include "windhover/io/sent_frames.h"
#include "windhover/io/stream_account.h"

namespace windhover {

// Invariant: every row handed in is on its way or in totals() once, as what became of it.
class ClientStream : public ClientConnection {
 public:
  // Connects and says Hello. kUnavailable: nobody listens, or no session is free; kTimeout;
  // kInvalidArgument: no such address, or options that contradict one another; kRefused,
  // kNotPermitted, kUnsupported: the server refuses.
  Status connect(std::string_view address, const ClientOptions& options = {});

  // Connects to the same address again, at once and then after pauses of 25 ms to 2 s, for
  // retry_for, also while the server takes the old connection for alive; then error_text() says
  // that it gave up, and why. Sends every frame again that was not acknowledged, and rows that were
  // acknowledged and the server no longer has, as far as they are kept here. kRefused with
  // missing().count > 0: rows are missing that are no longer kept; the connection is open, and
  // go_back() or leave_missing() comes next. Without `resend`, or where the server has forgotten a
  // drawn producer, outstanding rows are unknown and not sent again (wait_acknowledged() returns
  // kClosed once).
  Status reconnect();
  const MissingRows& missing() const { return missing_; }

  // For a caller that still has the missing rows from `sequence` on: it hands them in again, and
  // all rows behind them, beginning with `sequence`. Rows kept here are dropped; those that were on
  // their way no longer count as sent. Missing rows before `sequence` count as lost, as in
  // leave_missing(). REQUIRES: `sequence` is missing().first or one of the missing().count - 1
  // behind it.
  Status go_back(std::uint64_t sequence);

  // For a caller that has none of the missing rows: they count as lost, and the stream goes on
  // behind them. kRefused (REASON_SEQUENCE_GAP) where the server knows an earlier part of the
  // stream: it takes a gap from a drawn producer alone.
  Status leave_missing();

  // What the server last said of the producer on connecting, if it was asked.
  const v1::ProducerStatusResult& producer() const { return producer_; }
  // The sequence number of the next row handed in.
  std::uint64_t next_sequence() const { return next_sequence_; }

  // Pipelined sending. send_observe() splits rows into frames by the server's limits and sends full
  // write buffers; flush() sends the rest. Both take in acknowledgements while the socket has no
  // room, and send_observe() waits for some while more than resend_bytes are on their way;
  // poll_acknowledgements() takes in those that have come, without waiting. The call that learns of
  // a frame refused as a whole (sequence gap, producer busy, table full) returns an error, with the
  // reason in refusal().
  Status send_observe(const ObserveRows& rows);
  Status poll_acknowledgements();
  Status wait_acknowledged();

  const ObserveTotals& totals() const { return account_.totals(); }
  std::uint64_t outstanding_frames() const { return frames_.frames_on_the_way(); }
  std::uint64_t outstanding_rows() const { return frames_.rows_on_the_way(); }
  // The refused rows that the server listed, oldest first, since the last call.
  std::vector<ClientRefusedRow> take_refused_rows() { return account_.take_refused_rows(); }

  // Sends the rows and waits until all are acknowledged.
  Status observe(const ObserveRows& rows);

 protected:
  ~ClientStream() = default;

 private:
  // Where the stream begins for the server.
  struct Beginning {
    bool here = false;
    std::uint64_t sequence = 0;
  };
  // The server's history as the newest connection found it.
  struct Instance {
    std::uint64_t id = 0;
    std::uint64_t accepted = 0;  // rows of this client

    // At most how many of these rows the server no longer has, when it is reached again without
    // `resend`.
    std::uint64_t lost(std::uint64_t id_before, std::uint64_t head_before, std::uint64_t head);
  };
  bool take_in(const v1::Response& response, Status& status) override;
  Status ask_producer();
  // Whether rows have sequence numbers, and so can be sent again.
  bool resends() const { return options_.producer != 0; }
  void give_up_outstanding();
  Status take_up_again();
  Status find_missing();
  Status send_again(std::uint64_t from);
  Status leave_before(std::uint64_t sequence);
  Status wait_until(const std::function<bool()>& done);
  Status send_frame(const ObserveRows& rows, std::size_t first, std::size_t count);

  Address address_;
  ClientOptions options_;
  v1::ProducerStatusResult producer_;
  SentFrames frames_;
  std::uint64_t next_sequence_ = 0;
  Beginning beginning_;
  MissingRows missing_;
  std::uint64_t fingerprint_ = 0;      // Welcome.fingerprint of the first connection
  std::uint64_t start_ = 0;            // Welcome.start_id of the newest
  std::uint64_t forgotten_ = 0;        // forgotten producers, as the server said last
  std::uint64_t restoring_until_ = 0;  // id; until then answers are about held frames; 0: none
  bool rows_lost_ = false;             // rows became unknown; wait_acknowledged() will say so
  Instance instance_;
  StreamAccount account_;
  v1::Request scratch_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CLIENT_STREAM_H_
