// One connection of a client: frames out, answers in, and errors.
#ifndef WINDHOVER_IO_CLIENT_CONNECTION_H_
#define WINDHOVER_IO_CLIENT_CONNECTION_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "windhover/io/address.h"
#include "windhover/io/client_types.h"
#include "windhover/io/frame_channel.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/platform/status.h"

namespace windhover {

// Reasons that are no Status, and those of a newer server, are kRefused.
Status status_of_reason(std::uint32_t reason);

// Invariant: responses about rows are handed to take_in() as they come; all other answers wait for
// receive() and do not outlive the connection.
class ClientConnection {
 public:
  void close();
  bool connected() const { return channel_.is_open(); }

  // The server's answer to Hello. Valid after connecting.
  const v1::Welcome& welcome() const { return welcome_; }

  // Sends what is pending.
  Status flush();

  // For pipelining questions: send() gives the request the next id and sends it; receive() waits
  // for the next response that is not about rows.
  Status send(v1::Request& request);
  Status receive(v1::Response& response);

  // Asks where a producer stands, on the observe endpoint. Claims nothing.
  Status producer_status(std::uint64_t producer, v1::ProducerStatusResult& result);

  // Of the last call that failed: a sentence; why the server refused, REASON_OK if it did not; the
  // number that it sent with the reason.
  const std::string& error_text() const { return error_.text; }
  v1::Reason refusal() const { return error_.refusal; }
  std::uint64_t error_number() const { return error_.number; }

 protected:
  ClientConnection() = default;
  ~ClientConnection() = default;

  // Takes in a response about rows; `status` is then kOk, or why the server refused. False: it is
  // about something else.
  virtual bool take_in(const v1::Response& response, Status& status) = 0;

  // Connects and says Hello. A connection that was open is closed.
  Status open(const Address& address, const ClientOptions& options);
  // Sends a request and waits for its own answer.
  Status ask(v1::Request& request, v1::Response& response);

  std::uint64_t next_id() { return next_id_++; }
  FrameChannel& channel() { return channel_; }

  // Waits for bytes to come, or for room to send, and takes what has come.
  Status receive_bytes(bool to_send);
  // Takes in every whole response that has come.
  Status take_in_all();

  Status fail(Status status, std::string text, std::uint64_t number = 0);
  Status fail_closed(Status status, std::string text, std::uint64_t number = 0);
  // Returns kRefused.
  Status fail_refused(v1::Reason reason, std::string text, std::uint64_t number = 0);
  Status refused(const v1::Refusal& refusal);
  void add_to_error(std::string_view text) { error_.text += text; }

 private:
  struct Failure {
    std::string text;
    v1::Reason refusal = v1::REASON_OK;
    std::uint64_t number = 0;
  };

  FrameChannel channel_;
  std::chrono::milliseconds reply_timeout_{};
  v1::Welcome welcome_;
  std::uint64_t next_id_ = 1;
  std::deque<v1::Response> answers_;  // received while something else was waited for
  Failure error_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_CLIENT_CONNECTION_H_
