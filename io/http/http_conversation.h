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

namespace windhover {

// One connection's half of HTTP/1.1, without the connection: bytes received in, answers out. Reads
// with Beast's parser: heads of at most header_cap bytes, bodies of at most body_cap.
class HttpConversation {
 public:
  HttpConversation(const HttpConfig& config, HttpHandler& handler);
  ~HttpConversation();
  HttpConversation(const HttpConversation&) = delete;
  HttpConversation& operator=(const HttpConversation&) = delete;

  enum class End : std::uint8_t {
    kNeedInput,  // the request is not whole; `out` may hold a "100 Continue"
    kWaiting,    // the answer is the observe endpoint's to take_relay(): answer_later()
    kAnswered,   // one request has been answered; what is left is the next
    kClose,      // `out` is the last answer: send it and close
  };
  struct Turn {
    End end = End::kNeedInput;
    std::size_t consumed = 0;
  };

  // A new peer, and what is known of who it is.
  void begin(const Credential& peer = {}) noexcept;

  // Reads from the beginning of `input` at most one request. `consumed` bytes are done with; what
  // is left comes again with more behind it, so `input` has to be able to hold header_cap bytes.
  // Appends to `out`. Throws nothing: without memory it closes.
  Turn handle(std::span<const std::byte> input, std::string& out) noexcept;

  // After kWaiting.
  HttpRelay take_relay() noexcept { return std::move(relay_); }
  End answer_later(const HttpAnswer& answer, std::string& out);

  // After the next answer the connection closes.
  void stop() noexcept { stopping_ = true; }

  // How far the request under way has come.
  bool has_begun() const noexcept { return begun_; }
  bool has_head() const noexcept;

 private:
  struct Parser;
  Turn parse(std::span<const std::byte> input, std::string& out);
  End answer(std::string& out);
  End write(const HttpAnswer& answer, std::string& out);
  End refuse(const HttpAnswer& answer, std::string& out);

  const std::uint32_t header_cap_;
  const std::uint32_t body_cap_;
  HttpHandler& handler_;
  std::unique_ptr<Parser> parser_;  // of the request under way
  Credential peer_;
  bool begun_ = false;
  bool continued_ = false;  // told to send its body
  bool stopping_ = false;
  // Of the request that is being answered.
  struct Manner {
    unsigned version = 11;
    bool keep = false;
    bool with_body = true;
  };
  Manner manner_;
  HttpRelay relay_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_CONVERSATION_H_
