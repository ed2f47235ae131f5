#include "windhover/io/http/observe_link.h"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/write.hpp>

#include "windhover/io/framing.h"
#include "windhover/io/http/json_api.h"
#include "windhover/io/messages.h"

namespace windhover {
namespace {

constexpr std::uint32_t kLargestAnswer = 64 * 1024;  // an acknowledgement takes less than 2 KiB

}  // namespace

void ObserveLink::point_to(const ListenConfig& observe) {
  if (observe.tcp_address.empty()) {
    endpoint_ = asio::local::stream_protocol::endpoint(std::string(observe.unix_path));
    return;
  }
  const auto address = asio::ip::make_address(
      asio::string_view(observe.tcp_address.data(), observe.tcp_address.size()));
  endpoint_ = asio::ip::tcp::endpoint(address, observe.tcp_port);
}

void ObserveLink::send(HttpRelay relay, ObserveAsker& asker) {
  waiting_.push_back({std::move(relay), &asker});
  go_on();
}

bool ObserveLink::forget(ObserveAsker& asker) noexcept {
  const auto found = std::ranges::find(waiting_, &asker, &Waiting::asker);
  if (found == waiting_.end()) return false;
  found->asker = nullptr;
  // Its answer will still come, and must not be taken for the next one's.
  if (sent_ && found == waiting_.begin()) return true;
  waiting_.erase(found);
  return false;
}

void ObserveLink::close() noexcept { fail("the connection to the observe endpoint was closed"); }

void ObserveLink::go_on() {
  if (waiting_.empty() || sent_ || writing_) return;
  if (state_ == State::kDown) return connect();
  if (!greeted_) return;
  sent_ = true;
  HttpRelay& first = waiting_.front().relay;
  model_->over_http.set(first.owner);
  write(std::move(first.frame));
}

void ObserveLink::connect() {
  state_ = State::kConnecting;
  greeted_ = false;
  in_.clear();
  socket_.async_connect(endpoint_, [this, life = ++life_](const ErrorCode& error) {
    if (life != life_) return;
    if (error) return fail("the observe endpoint cannot be reached");
    state_ = State::kUp;
    ErrorCode ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    v1::Request hello;
    hello.mutable_hello()->set_version_min(kProtocolVersion);
    hello.mutable_hello()->set_version_max(kProtocolVersion);
    hello.mutable_hello()->set_model(model_->name().data(), model_->name().size());
    hello.mutable_hello()->set_token(token_.data(), token_.size());
    write(frame_of(hello));
    read();
  });
}

void ObserveLink::write(std::string bytes) {
  out_ = std::move(bytes);
  writing_ = true;
  asio::async_write(socket_, asio::buffer(out_),
                    [this, life = life_](const ErrorCode& error, std::size_t) {
                      if (life != life_) return;
                      writing_ = false;
                      if (error) return fail("the connection to the observe endpoint has ended");
                      go_on();
                    });
}

void ObserveLink::read() {
  socket_.async_read_some(asio::buffer(some_),
                          [this, life = life_](const ErrorCode& error, std::size_t bytes) {
                            if (life != life_) return;
                            if (error)
                              return fail("the connection to the observe endpoint has ended");
                            try {
                              in_.append(some_.data(), bytes);
                              on_bytes();
                            } catch (const std::exception&) {
                              return fail("no memory for the answer");
                            }
                            if (life == life_) read();
                          });
}

void ObserveLink::on_bytes() {
  const std::uint64_t life = life_;
  while (life == life_) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(in_));
    const FrameScan scan = scan_frame(bytes, kLargestAnswer);
    if (scan.kind == FrameScan::kNeedMore) return;
    v1::Response response;
    if (scan.kind != FrameScan::kFrame ||
        !response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()))) {
      return fail("the observe endpoint cannot be understood");
    }
    const std::string taken = in_.substr(0, scan.consumed);
    in_.erase(0, scan.consumed);
    on_response(response, std::as_bytes(std::span(taken)));
  }
}

void ObserveLink::on_response(const v1::Response& response, std::span<const std::byte> frame) {
  if (response.has_welcome()) {
    greeted_ = true;
  } else if (!sent_) {
    return fail(response.has_refusal() ? "the observe endpoint takes no connection now"
                                       : "the observe endpoint says what nobody asked");
  } else {
    tell_first(answer_of(response, frame));
  }
  go_on();
}

// A refusal is explained by the request, which out_ still holds.
HttpAnswer ObserveLink::answer_of(const v1::Response& response,
                                  std::span<const std::byte> frame) const {
  v1::Request request;
  if (response.has_refusal() || response.observe_ack().refused() > 0) {
    const FrameScan scan = scan_frame(std::as_bytes(std::span(out_)), UINT32_MAX);
    if (!request.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()))) {
      return json_answer_of(frame);
    }
  }
  return json_answer_of(frame, request, *model_);
}

void ObserveLink::tell_first(const HttpAnswer& answer) {
  ObserveAsker* const asker = waiting_.front().asker;
  waiting_.erase(waiting_.begin());
  sent_ = false;
  if (asker != nullptr) asker->on_answer(answer);
}

// A request that has been sent may have been taken; others have not.
void ObserveLink::fail(const char* sentence) noexcept {
  ++life_;
  state_ = State::kDown;
  greeted_ = writing_ = false;
  ErrorCode ignored;
  socket_.close(ignored);
  std::vector<Waiting> told = std::exchange(waiting_, {});
  const bool first_sent = std::exchange(sent_, false);
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told[i].asker == nullptr) continue;
    const bool may_be_there = i == 0 && first_sent;
    told[i].asker->on_failure(may_be_there ? 504 : 503, sentence);
  }
}

}  // namespace windhover
