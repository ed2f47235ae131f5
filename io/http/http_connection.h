#ifndef WINDHOVER_IO_HTTP_HTTP_CONNECTION_H_
#define WINDHOVER_IO_HTTP_HTTP_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "windhover/io/asio_types.h"
#include "windhover/io/handler_memory.h"
#include "windhover/io/http/http_config.h"
#include "windhover/io/http/http_conversation.h"
#include "windhover/io/http/observe_link.h"
#include "windhover/io/occupant.h"
#include "windhover/io/peer_socket.h"
#include "windhover/io/read_buffer.h"
#include "windhover/io/server_state.h"
#include "windhover/platform/clock.h"

namespace windhover {

class HttpConnection;

class HttpConnectionHost : public HttpPlaces {
 public:
  // A request has come whole: call take_turn() when it is its turn.
  virtual void on_question(HttpConnection& connection) noexcept = 0;
  // The answer has cost `cost`.
  virtual void on_cost(HttpConnection& connection, std::int64_t cost) noexcept = 0;
  // The connection is closed, or has waited too long: it waits for no turn any more.
  virtual void on_left(HttpConnection& connection) noexcept = 0;
  // The connection is free again; none of its operations is under way.
  virtual void on_free(HttpConnection& connection) noexcept = 0;

 protected:
  ~HttpConnectionHost() = default;
};

// A socket and a conversation. One request is read, answered and its answer taken by the peer
// before the next is looked at, so a peer that pipelines or does not read costs no more memory than
// others. The HTTP thread's. Its read buffer is made once; a request costs heap calls.
class HttpConnection final : private ObserveAsker {
 public:
  HttpConnection(IoContext& io, const HttpConfig& config, HttpHandler& handler, ServerState& state,
                 std::deque<ObserveLink>& links, HttpConnectionHost& host);

  Occupant occupant() const noexcept;
  const HttpConversation& conversation() const noexcept { return conversation_; }
  // How readily it is closed for a newcomer: first those that linger, then those without a known
  // identity, then idle ones; kNever: a request is under way.
  enum class GivesWay : std::uint8_t { kLingers, kStranger, kIdle, kNever };
  GivesWay gives_way() const noexcept;
  std::int64_t since_ns() const noexcept { return since_ns_; }

  // Takes a connected socket over. REQUIRES: occupant().is_free().
  void begin(Stream&& socket, PlaceKind place = PlaceKind::kEverybodys) noexcept;
  // After on_question().
  void take_turn() noexcept;

  // Closes the connection, or refuses its request, if it has taken too long.
  void check_timeouts(std::int64_t now_ns) noexcept;

  // Closes after the answer under way, or at once if there is none.
  void stop() noexcept;
  void abort() noexcept;

 private:
  enum class State : std::uint8_t {
    kFree,
    kReading,
    kTurn,     // the request waits for its turn
    kWaiting,  // the request waits for the observe endpoint
    kWriting,
    kLingering,  // all is sent; what still comes is discarded until the peer closes
    kClosed,     // operations under way are coming back
  };

  void on_answer(const HttpAnswer& answer) noexcept override;
  void on_failure(unsigned status, const char* sentence) noexcept override;
  void turn() noexcept;
  void turn_away() noexcept;
  void go_on(const HttpConversation::Turn& turn) noexcept;
  void read() noexcept;
  void on_read(const ErrorCode& error, std::size_t bytes) noexcept;
  void write() noexcept;
  void on_written(const ErrorCode& error, std::size_t bytes) noexcept;
  void linger() noexcept;
  void settle() noexcept;
  std::int64_t allowed_ns() const noexcept;

  const HttpConfig config_;
  HttpHandler& handler_;
  ServerState& state_of_server_;
  Clock& clock_;
  std::deque<ObserveLink>& links_;  // one a model
  ObserveLink* link_ = nullptr;     // the one that the request was given to last
  HttpConnectionHost& host_;
  PeerSocket socket_;
  HttpConversation conversation_;
  std::vector<std::byte> memory_;
  ReadBuffer input_;
  struct Output {
    std::string bytes;
    std::size_t sent = 0;
    bool last = false;
  };
  Output output_;
  HandlerMemory handler_memory_;  // one operation at a time
  bool under_way_ = false;
  bool first_ = true;  // nothing has been answered yet
  State state_ = State::kFree;
  std::int64_t begun_ns_ = 0;
  std::int64_t since_ns_ = 0;  // when the current wait began
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_CONNECTION_H_
