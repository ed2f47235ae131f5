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

// Invariant: every row handed in is in totals() once, as what is known of it, or on its way.
class ClientStream : public ClientConnection {
 public:
  // Connects and says Hello. kUnavailable: nobody listens, or no session is free; kTimeout;
  // kInvalidArgument: no such address; kRefused, kUnsupported: the server refuses.
  Status connect(std::string_view address, const ClientOptions& options = {});

  // Connects to the same address again, at once and then after pauses of 50 ms to 2 s, for
  // retry_for: also while the server still believes the old connection alive. error_text() then
  // says that it gave up, and why. Sends again every frame that was not acknowledged, and what was
  // acknowledged and the server no longer has, as far as it is kept. kRefused with missing().count
  // > 0: rows are missing that are no longer kept; the connection is open, and go_back() or
  // leave_missing() comes next. Without `resend`, or where the server has forgotten a drawn
  // producer, what was outstanding is unknown and not sent again (wait_acknowledged() returns
  // kClosed once).
  Status reconnect();
  const MissingRows& missing() const { return missing_; }

  // The caller still has the missing rows from `sequence` on: that is the number of the next row
  // handed in. Rows kept here are dropped; those that were on their way no longer count as sent.
  // Missing ones before `sequence` count as lost, as in leave_missing(). REQUIRES: `sequence` is
  // missing().first or one of the missing().count - 1 behind it.
  Status go_back(std::uint64_t sequence);

  // The caller has none of them: they count as lost, and the stream goes on behind them. kRefused
  // where the server knows an earlier part of the stream (REASON_SEQUENCE_GAP): it takes no gap,
  // but of a drawn producer.
  Status leave_missing();

  // What the server said of the producer on connecting, if one was given. Valid after connect().
  const v1::ProducerStatusResult& producer() const { return producer_; }
  // The sequence number of the next row handed in.
  std::uint64_t next_sequence() const { return next_sequence_; }

  // Pipelined observing. send_observe() splits by the server's limits and hands over full write
  // buffers; flush() sends the rest. Acknowledgements that have come are taken in on the way,
  // without waiting. A whole frame refused (sequence gap, producer busy, table full) is returned by
  // the call that learns of it, with the reason in refusal().
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
  // Where the stream begins, if the server is to take it up in the middle.
  struct Beginning {
    bool here = false;
    std::uint64_t sequence = 0;
  };
  // The server as the newest connection found it, and what it owes to this client.
  struct Instance {
    std::uint64_t id = 0;
    std::uint64_t accepted = 0;  // rows of this client

    // How many of these rows the server no longer has, at most, when it is reached again without
    // `resend`.
    std::uint64_t lost(std::uint64_t id_before, std::uint64_t head_before, std::uint64_t head);
  };
  bool take_in(const v1::Response& response, Status& status) override;
  Status ask_producer();
  // Whether rows are told apart, and so can be sent again.
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
  std::uint64_t fingerprint_ = 0;      // what rows meant to the server at first
  std::uint64_t start_ = 0;            // the server's start_id, likewise
  std::uint64_t forgotten_ = 0;        // producers, as the server said last
  std::uint64_t restoring_until_ = 0;  // id; until then answers are about frames held; 0: none
  bool rows_lost_ = false;             // and wait_acknowledged() has not said so yet
  Instance instance_;
  StreamAccount account_;
  v1::Request scratch_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CLIENT_STREAM_H_
