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

// Who may have a place, as the server knows that sees all connections.
class HttpPlaces {
 public:
  // Whether this one may be one of the identity's, which may have so many: another one of it that
  // has nothing under way gives way.
  virtual bool has_place(const HttpConversation& as, const Credential& who,
                         std::uint64_t most) noexcept = 0;
  // Whether an admin who has come when all is taken may stay.
  virtual bool admins_is_free() noexcept = 0;

 protected:
  ~HttpPlaces() = default;
};

// One connection's half of HTTP/1.1, without the connection: bytes received in, answers out. Reads
// with Beast's parser: heads of at most header_cap bytes, bodies of at most body_cap.
class HttpConversation {
 public:
  // `places` null: there are no others.
  HttpConversation(const HttpConfig& config, HttpHandler& handler, HttpPlaces* places = nullptr);
  ~HttpConversation();
  HttpConversation(const HttpConversation&) = delete;
  HttpConversation& operator=(const HttpConversation&) = delete;

  enum class End : std::uint8_t {
    kNeedInput,  // the request is not whole; `out` may hold a "100 Continue"
    kTurn,       // it is whole, and is answered in the next call that may; signs of life are now
    kWaiting,    // the answer is the observe endpoint's to take_relay(): answer_later()
    kAnswered,   // one request has been answered; what is left is the next
    kClose,      // `out` is the last answer: send it and close
  };
  struct Turn {
    End end = End::kNeedInput;
    std::size_t consumed = 0;
    std::int64_t cost = 0;  // what the answer costs, in ns as QuestionCost has them
  };

  // A new peer, and what is known of who it is.
  void begin(const Credential& peer = {}, PlaceKind place = PlaceKind::kEverybodys) noexcept;
  // An admin's becomes everybody's when it has shown that it is one.
  PlaceKind place() const noexcept { return place_; }
  // Where the peer is, see Credential::of_address().
  void come_from(const Credential& from) noexcept { from_ = from; }
  const Credential& from() const noexcept { return from_; }

  // Reads from the beginning of `input` at most one request; of who is over its limits the head.
  // `consumed` bytes are done with; what
  // is left comes again with more behind it, so `input` has to be able to hold header_cap bytes.
  // Appends to `out`. Throws nothing: without memory it closes.
  Turn handle(std::span<const std::byte> input, std::string& out, bool may_answer = true) noexcept;

  // Gives this answer to a request that is whole, in place of its own; it is paid for as one.
  End turn_away(const HttpAnswer& answer, std::string& out);
  // The connection ends, with so many bytes that nobody has looked at: what has come of the request
  // under way is paid for.
  void end(std::size_t bytes) noexcept;
  // Bytes that come after the last answer: who asked last pays for them.
  void throw_away(std::size_t bytes) noexcept;

  // After kWaiting.
  HttpRelay take_relay() noexcept { return std::move(relay_); }
  End answer_later(const HttpAnswer& answer, std::string& out);

  // After the next answer the connection closes.
  void stop() noexcept { stopping_ = true; }

  // How far the request under way has come.
  bool has_begun() const noexcept { return begun_; }
  bool has_head() const noexcept;
  // Whether a request of it was of somebody with an identity, or nobody needs one.
  bool has_been_known() const noexcept { return known_; }
  // Whose it is; of strangers, and where there are no identities, of kind kNone.
  const Credential& identity() const noexcept { return identity_; }

 private:
  struct Parser;
  // How a request is to be answered.
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
  bool admitted_ = false;  // its head has come, and who asks is within its limits
  bool known_ = false;
  bool stopping_ = false;
  Manner manner_;  // of the request that is being answered
  HttpRelay relay_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_CONVERSATION_H_
