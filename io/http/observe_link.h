#ifndef WINDHOVER_IO_HTTP_OBSERVE_LINK_H_
#define WINDHOVER_IO_HTTP_OBSERVE_LINK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/asio_types.h"
#include "windhover/io/http/http_types.h"
#include "windhover/io/listen_config.h"
#include "windhover/io/served_model.h"
#include "windhover/io/windhover.pb.h"

namespace windhover {

// Asks the observe endpoint for something, and gets one answer or failure.
class ObserveAsker {
 public:
  virtual void on_answer(const HttpAnswer& answer) noexcept = 0;
  // No answer will come. 503: the request has not been handed over; 504: it may have been.
  virtual void on_failure(unsigned status, const char* sentence) noexcept = 0;

 protected:
  ~ObserveAsker() = default;
};

// Hands requests about one model to the observe endpoint over a connection of its own, like any
// client, because the observe thread alone takes rows. It connects with the first request, and
// again after the connection has ended. One request at a time is on its way, so that each
// acknowledgement covers one request. send() never calls the asker. The HTTP thread's; allocates.
class ObserveLink {
 public:
  // `model`: null where there is none now; it lives until another speak_of(). `token`: the token of
  // the server's own parts; outlives this.
  ObserveLink(IoContext& io, ServedModel* model, std::string_view token)
      : socket_(io), model_(model), token_(token) {}

  // Before use: says where the observe endpoint listens, with the port that it got.
  void point_to(const ListenConfig& observe);

  // `relay`: a Request with its length prefix, and its owner. `asker` lives until its answer or
  // forget(). REQUIRES: there is a model.
  void send(HttpRelay relay, ObserveAsker& asker);

  // The asker is not called any more. Returns whether its request may have reached the endpoint.
  bool forget(ObserveAsker& asker) noexcept;

  // What holds up the model's senders; kOk: nothing, or there is no model.
  Status obstacle() const noexcept {
    return model_ != nullptr ? model_->log.obstacle() : Status::kOk;
  }

  // Ends the connection, if there is one; requests that wait fail.
  void close() noexcept;
  // The next connection is about this model. REQUIRES: close() was called.
  void speak_of(ServedModel* model) noexcept { model_ = model; }

 private:
  enum class State : std::uint8_t { kDown, kConnecting, kUp };
  struct Waiting {
    HttpRelay relay;
    ObserveAsker* asker;  // null: forgotten
  };

  void go_on();
  void connect();
  void write(std::string bytes);
  void read();
  void on_bytes();
  void on_response(const v1::Response& response, std::span<const std::byte> frame);
  HttpAnswer answer_of(const v1::Response& response, std::span<const std::byte> frame) const;
  void tell_first(const HttpAnswer& answer);
  void fail(const char* sentence) noexcept;

  StreamProtocol::endpoint endpoint_;
  Stream socket_;
  ServedModel* model_;
  std::string_view token_;
  State state_ = State::kDown;
  std::uint64_t life_ = 0;  // number of the connection: handlers of an older one do nothing
  std::vector<Waiting> waiting_;
  bool greeted_ = false;
  bool sent_ = false;  // the first that waits has been sent
  bool writing_ = false;
  std::string out_;  // the bytes that were written last
  std::string in_;
  std::array<char, 1024> some_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_OBSERVE_LINK_H_
