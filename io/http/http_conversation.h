#ifndef WINDHOVER_IO_HTTP_HTTP_CONVERSATION_H_
#define WINDHOVER_IO_HTTP_HTTP_CONVERSATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "windhover/io/http/http_config.h"
#include "windhover/io/http/http_handler.h"
#include "windhover/io/operator_place.h"

namespace windhover {

class HttpConversation;

// Answers who may have a place: the server does, which sees all connections.
class HttpPlaces {
 public:
  // Whether this connection may be one of the identity's `most`. An idle one of the same identity
  // is closed for it if need be.
  virtual bool has_place(const HttpConversation& as, const Credential& who,
                         std::uint64_t most) noexcept = 0;
  // Whether an admin who has come when all places were taken may stay.
  virtual bool admins_is_free() noexcept = 0;

 protected:
  ~HttpPlaces() = default;
};

// The server's half of HTTP/1.1 on one connection, without its socket: bytes in, answers out. It
// reads with Beast's parser: heads of at most header_cap bytes, bodies of at most body_cap.
class HttpConversation {
 public:
  // `places` null: there are no others.
  HttpConversation(const HttpConfig& config, HttpHandler& handler, HttpPlaces* places = nullptr);
  ~HttpConversation();
  HttpConversation(const HttpConversation&) = delete;
  HttpConversation& operator=(const HttpConversation&) = delete;

  enum class End : std::uint8_t {
    kNeedInput,  // the request is not whole; `out` may hold a "100 Continue"
    kTurn,       // it is whole and waits for a call that may answer; signs of life never do
    kWaiting,    // give take_relay() to the observe endpoint, and its answer to answer_later()
    kAnswered,   // one request has been answered; what is left belongs to the next
    kClose,      // `out` is the last answer: send it and close
  };
  struct Turn {
    End end = End::kNeedInput;
    std::size_t consumed = 0;
    std::int64_t cost = 0;  // of the answer, in ns as QuestionCost counts them
  };

  // Begins with a new peer; `peer` is what is known of it.
  void begin(const Credential& peer = {}, PlaceKind place = PlaceKind::kEverybodys) noexcept;
  // An admin's place becomes kEverybodys once the admin has shown its token.
  PlaceKind place() const noexcept { return place_; }
  // Where the peer is, see Credential::of_address().
  void come_from(const Credential& from) noexcept { from_ = from; }
  const Credential& from() const noexcept { return from_; }

  // Reads at most one request from the beginning of `input`; if its sender is over its limits, only
  // the head. `consumed` bytes are done with; the caller gives the rest again with more behind it,
  // so `input` must be able to hold header_cap bytes. Appends to `out`. Throws nothing: without
  // memory it closes.
  Turn handle(std::span<const std::byte> input, std::string& out, bool may_answer = true) noexcept;

  // Gives this answer to a request that is whole, in place of its own, and charges for the request.
  End turn_away(const HttpAnswer& answer, std::string& out);
  // The connection ends, with so many bytes unread. Charges for them and for the part of the
  // request under way that has come.
  void end(std::size_t bytes) noexcept;
  // Charges the peer that asked last for bytes that came after the last answer.
  void throw_away(std::size_t bytes) noexcept;

  // After kWaiting.
  HttpRelay take_relay() noexcept { return std::move(relay_); }
  End answer_later(const HttpAnswer& answer, std::string& out);

  // The next answer will be the last.
  void stop() noexcept { stopping_ = true; }

  // How far the request under way has come.
  bool has_begun() const noexcept { return begun_; }
  bool has_head() const noexcept;
  // Whether a request on it came from a known identity, or none is needed.
  bool has_been_known() const noexcept { return known_; }
  // The identity that it counts for; kNone for strangers, and where there are no identities.
  const Credential& identity() const noexcept { return identity_; }

 private:
  struct Parser;
  // How to write the answer to a request.
  struct Manner {
    unsigned version = 11;
    bool keep = false;
    bool with_body = true;
  };
  Manner manner_of_request() const;
  Turn parse(std::span<const std::byte> input, std::string& out, bool may_answer);
  void admit(std::string& out, bool may_answer, Turn& turn);
  bool may_ask(const HttpRequest& request, HttpAnswer& refusal);
  bool is_whole() const noexcept;
  HttpRequest request_so_far() const;
  HttpRequest nothing_of(std::size_t bytes) const noexcept;
  End answer(std::string& out, std::int64_t& cost);
  End write(const HttpAnswer& answer, std::string& out);
  End refuse(const HttpAnswer& answer, std::string& out);

  const std::uint32_t header_cap_;
  const std::uint32_t body_cap_;
  HttpHandler& handler_;
  HttpPlaces* const places_;
  PlaceKind place_ = PlaceKind::kEverybodys;
  std::unique_ptr<Parser> parser_;  // of the request under way
  Credential peer_;
  Credential from_;
  Credential last_;  // who asked last
  Credential identity_;
  std::size_t bytes_ = 0;  // of the request under way
  bool begun_ = false;
  bool admitted_ = false;  // its head has come, and its sender may ask and is within its limits
  bool known_ = false;
  bool stopping_ = false;
  Manner manner_;  // of the request that is being answered
  HttpRelay relay_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_CONVERSATION_H_
