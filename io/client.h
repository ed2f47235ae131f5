// Talks to a Windhover server from another process or thread: blocking, for programs and tests.
//
//   Client client;
//   if (!ok(client.connect("127.0.0.1:7171", {.producer = 7}))) complain(client.error_text());
//   client.send_observe(rows);                  // any number of times, pipelined
//   client.wait_acknowledged();                 // client.totals() says what became of every row
//   client.reconnect();                         // when a call returned kClosed or kTimeout
//   client.predict(request, summaries, provenance);
//
// Addresses: "host:port", "tcp:host:port", "[v6]:port", "unix:/path". One thread at a time uses a
// Client. Unlike the server it allocates. Nothing throws: every call returns a Status, and
// error_text() then says in a sentence what went wrong.
#ifndef WINDHOVER_IO_CLIENT_H_
#define WINDHOVER_IO_CLIENT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/address.h"
#include "windhover/io/client_socket.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/platform/status.h"
#include "windhover/runtime/observation.h"
#include "windhover/runtime/prediction/predictive.h"

namespace windhover {

struct ClientOptions {
  std::uint64_t producer = 0;        // not 0: rows survive a broken connection exactly once
  std::uint64_t first_sequence = 0;  // of the first row this client sends
  // The rows before first_sequence are not to be had: a server that does not know the producer
  // begins there. Otherwise it refuses (REASON_UNKNOWN_PRODUCER) unless first_sequence is 0.
  bool begins_here = false;
  // LOGGED: connect() fails (REASON_NOT_DURABLE) where an acknowledgement would not mean the disk.
  v1::Durability durability = v1::DURABILITY_UNSPECIFIED;
  std::uint64_t fingerprint = 0;  // what this client believes a row means; 0: do not check
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds reply_timeout{10'000};  // without a byte coming or going
  bool wire_float = false;                          // send features and targets as 32-bit floats
  std::size_t max_rows_per_frame = 0;               // 0: as many as the server takes
  // Bytes of rows kept to be sent again, with a producer: those on their way, for which
  // send_observe() waits when they are more, and as many acknowledged ones as there is room for
  // until the server has them on disk.
  std::size_t resend_bytes = std::size_t{16} << 20;
  std::chrono::milliseconds retry_for{60'000};  // for which reconnect() goes on trying; 0: once
};

// Rows to be sent. Dense: features holds rows x Welcome.features values and indices is empty.
// Sparse: values, columns (increasing within a row) and, for each row, where its values end.
struct ObserveRows {
  std::span<const double> features;
  std::span<const double> targets;  // one a row
  std::span<const std::uint32_t> indices;
  std::span<const std::uint32_t> row_ends;
};

struct ClientRefusedRow {
  std::uint64_t row = 0;  // counted over all rows this client has sent, from 0
  Status reason = Status::kOk;
};

// What became of the rows: once everything is acknowledged, sent = accepted + refused + duplicate +
// unknown, where a row that was sent again after a reconnection counts as sent once and is either
// accepted or, if the first copy had arrived, duplicate. Unknown are rows that were on their way
// when a connection without a producer broke: they were learned or lost, and are not sent again.
// An acknowledged row can still be lost, by a server that keeps no log or whose log was: that is
// told by reconnect(), and counted here.
struct ObserveTotals {
  std::uint64_t sent = 0;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t unknown = 0;
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_acknowledged = 0;
  std::uint64_t head = 0;           // of the newest acknowledgement
  std::uint64_t producer_next = 0;  // likewise, or of the last connecting
  // Of the acknowledged rows, oldest first, those that the server has said are on its disk.
  std::uint64_t durable = 0;
  // Rows acknowledged before the server lost them. Sent again, from what is kept here or after
  // go_back(); in the latter case they count in `sent` again.
  std::uint64_t restored = 0;
  // And not sent again. Without a producer: at most, as far as Welcome tells.
  std::uint64_t lost = 0;
  std::uint64_t histories = 0;  // how often the server came back as another instance
};

// Rows of the stream that neither the server nor the client has any more.
struct MissingRows {
  std::uint64_t first = 0;  // sequence number
  std::uint64_t count = 0;
};

// As it came over the wire.
Provenance provenance_of(const v1::Provenance& message);

class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Connects and says Hello. kUnavailable: nobody listens, or no session is free; kTimeout;
  // kInvalidArgument: no such address; kRefused, kUnsupported: the server refuses.
  Status connect(std::string_view address, const ClientOptions& options = {});

  // Connects to the same address again, at once and then after pauses of 50 ms to 2 s, for
  // retry_for: also while the server still believes the old connection alive. error_text() then
  // says that it gave up, and why. Sends again every frame that was not acknowledged, and what was
  // acknowledged and the server no longer has, as far as it is kept. kRefused with missing().count
  // > 0: rows are missing that are no longer kept; the connection is open, and go_back() or
  // leave_missing() comes next. Without a producer nothing is sent again: what was outstanding is
  // unknown (wait_acknowledged() returns kClosed once).
  Status reconnect();
  const MissingRows& missing() const { return missing_; }

  // The caller still has the missing rows from `sequence` on: that is the number of the next row
  // handed in. Rows kept here are dropped; those that were on their way no longer count as sent.
  // Missing ones before `sequence` count as lost, as in leave_missing(). REQUIRES: `sequence` is
  // missing().first or one of the missing().count - 1 behind it.
  Status go_back(std::uint64_t sequence);

  // The caller has none of them: they count as lost, and the stream goes on behind them. kRefused
  // where the server knows an earlier part of the stream (REASON_SEQUENCE_GAP): it takes no gap.
  Status leave_missing();

  void close();
  bool connected() const { return socket_.is_open(); }

  // What the server said in answer to Hello. Valid after connect().
  const v1::Welcome& welcome() const { return welcome_; }
  // And of the producer, if there is one. Valid after connect().
  const v1::ProducerStatusResult& producer() const { return producer_; }
  // The sequence number of the next row handed in.
  std::uint64_t next_sequence() const { return next_sequence_; }

  // Pipelined observing. send_observe() splits by the server's limits and hands over full write
  // buffers; flush() sends the rest. Acknowledgements that have come are taken in on the way,
  // without waiting. A whole frame refused (sequence gap, producer busy, table full) is returned by
  // the call that learns of it, with the reason in refusal().
  Status send_observe(const ObserveRows& rows);
  Status flush();
  Status poll_acknowledgements();
  Status wait_acknowledged();

  const ObserveTotals& totals() const { return totals_; }
  std::uint64_t outstanding_frames() const { return frames_.size() - held_; }
  std::uint64_t outstanding_rows() const { return outstanding_rows_; }
  // The refused rows that the server listed, oldest first, since the last call.
  std::vector<ClientRefusedRow> take_refused_rows();

  // Sends the rows and waits until all are acknowledged.
  Status observe(const ObserveRows& rows);

  // Questions: each flushes what is pending, sends, and waits for its own answer.
  Status predict(const PredictRequest& request, std::vector<PredictiveSummary>& summaries,
                 Provenance& provenance);
  Status posterior(std::vector<ParameterSummary>& summaries, Provenance& provenance);
  // All retained draws of one snapshot: provenance.draws x dimension numbers, draw after draw.
  Status draws(std::vector<double>& theta, Provenance& provenance);
  Status status(v1::StatusResult& result);
  // Where any producer stands, on the observe endpoint. Claims nothing.
  Status producer_status(std::uint64_t producer, v1::ProducerStatusResult& result);

  // For pipelining questions: send() gives the request the next id and sends it; receive() waits
  // for the next response that is not about observing (those are counted on the way).
  Status send(v1::Request& request);
  Status receive(v1::Response& response);

  // About the last call that failed: a sentence; why the server refused, REASON_OK if it did not;
  // the number it sent with that.
  const std::string& error_text() const { return error_text_; }
  v1::Reason refusal() const { return refusal_; }
  std::uint64_t error_number() const { return error_number_; }

 private:
  struct Frame {  // an Observe on its way
    std::uint64_t id = 0;
    std::uint64_t first_row = 0;  // counted over all rows of this client
    std::uint64_t first_sequence = 0;
    std::uint64_t rows = 0;
    std::string bytes;  // kept only with a producer

    std::uint64_t end() const { return first_sequence + rows; }
  };

  Status fail(Status status, std::string text, std::uint64_t number = 0);
  Status fail_closed(Status status, std::string text, std::uint64_t number = 0);
  Status refused(const v1::Refusal& refusal);
  Status open_connection();
  Status ask_producer();
  Status take_up_again();
  Status find_missing();
  Status send_again(std::uint64_t from);
  void count_lost_without_producer(std::uint64_t instance_before, std::uint64_t head_before);
  Status leave_before(std::uint64_t sequence);
  void begin_at_front();
  Status wait_until(const std::function<bool()>& done);
  Status send_frame(const ObserveRows& rows, std::size_t first, std::size_t count);
  std::size_t rows_that_fit(const ObserveRows& rows, std::size_t first) const;
  std::string_view append(const v1::Request& request);
  Status receive_bytes(bool to_send);
  Status take_in_all();
  Status take_in(const v1::Response& response, bool& about_observing);
  void take_in_acknowledgement(std::uint64_t id, const v1::ObserveAck& acknowledgement);
  void note_durable(const v1::ObserveAck& acknowledgement);
  void drop_front();
  void trim();
  Frame* find_frame(std::uint64_t id);
  Status ask(v1::Request& request, v1::Response& response);

  Address address_;
  ClientOptions options_;
  ClientSocket socket_;
  v1::Welcome welcome_;
  v1::ProducerStatusResult producer_;
  std::uint64_t next_id_ = 1;
  std::uint64_t outstanding_rows_ = 0;
  bool rows_lost_ = false;
  // Rising ids: `held_` acknowledged ones, kept while there is room, and those on their way.
  std::deque<Frame> frames_;
  std::size_t held_ = 0;
  std::size_t kept_bytes_ = 0;        // of all of them
  std::size_t on_the_way_bytes_ = 0;  // of those not acknowledged
  std::uint64_t next_sequence_ = 0;
  bool begins_here_ = false;
  std::uint64_t begin_sequence_ = 0;  // where the stream begins on the server, if begins_here_
  MissingRows missing_;
  std::uint64_t restoring_until_ = 0;  // id; until then answers are about frames held; 0: none
  std::uint64_t instance_ = 0;         // whose acknowledgements count
  std::uint64_t accepted_there_ = 0;   // of this client, by that instance
  struct Mark {                        // rows are durable once the server says so of its head
    std::uint64_t head = 0;
    std::uint64_t rows = 0;  // 0: none
  } mark_;
  std::deque<v1::Response> answers_;  // received while something else was waited for
  std::string out_;
  std::size_t out_begin_ = 0;
  std::vector<char> in_;
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  ObserveTotals totals_;
  std::vector<ClientRefusedRow> refused_rows_;
  v1::Request scratch_;
  std::string error_text_;
  v1::Reason refusal_ = v1::REASON_OK;
  std::uint64_t error_number_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CLIENT_H_
