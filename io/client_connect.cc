// How a client connects, claims its place in a stream, and connects again.
#include <algorithm>
#include <chrono>
#include <thread>

#include "windhover/io/client.h"

namespace windhover {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

}  // namespace

Status Client::connect(std::string_view address, const ClientOptions& options) {
  close();
  if (!parse_address(address, address_)) {
    return fail(Status::kInvalidArgument,
                std::string(address) + ": expected host:port, [v6]:port or unix:/path");
  }
  options_ = options;
  unacknowledged_.clear();
  refused_rows_.clear();
  totals_ = {};
  totals_.producer_next = options.first_sequence;
  outstanding_rows_ = 0;
  rows_lost_ = false;
  next_id_ = 1;
  const Status status = open_connection();
  return ok(status) && options_.producer != 0 && welcome_.observes() ? ask_producer() : status;
}

Status Client::open_connection() {
  close();
  std::string why;
  if (const Status status = socket_.connect(address_, options_.connect_timeout, why); !ok(status)) {
    return fail(status, "cannot connect: " + why);
  }
  v1::Request request;
  request.mutable_hello()->set_version_min(1);
  request.mutable_hello()->set_version_max(1);
  request.mutable_hello()->set_model_fingerprint(options_.fingerprint);
  v1::Response response;
  if (const Status status = ask(request, response); !ok(status)) return status;
  if (!response.has_welcome()) {
    return fail_closed(Status::kMalformed, "the server's first answer is not a welcome");
  }
  welcome_ = response.welcome();
  return Status::kOk;
}

// Where the stream stands, and whether an older connection still speaks for it. Claims nothing.
Status Client::ask_producer() {
  v1::Request request;
  request.mutable_producer_status()->set_producer(options_.producer);
  v1::Response response;
  if (const Status status = ask(request, response); !ok(status)) return status;
  if (!response.has_producer_status_result()) {
    return fail_closed(Status::kMalformed, "the server does not say where the producer stands");
  }
  producer_ = response.producer_status_result();
  totals_.producer_next = producer_.next();
  if (!producer_.live()) return Status::kOk;
  (void)fail_closed(Status::kRefused, "another connection speaks for this producer");
  refusal_ = v1::REASON_PRODUCER_BUSY;
  return Status::kRefused;
}

Status Client::reconnect() {
  const auto deadline = steady_clock::now() + options_.connect_timeout;
  if (options_.producer == 0) {
    rows_lost_ = rows_lost_ || !unacknowledged_.empty();
    totals_.unknown += outstanding_rows_;
    outstanding_rows_ = 0;
    unacknowledged_.clear();
    return open_connection();
  }
  std::deque<Frame> again = std::move(unacknowledged_);
  unacknowledged_.clear();
  Status status;
  for (;;) {
    status = open_connection();
    if (ok(status)) status = ask_producer();
    const bool old_one_lives =
        refusal_ == v1::REASON_PRODUCER_BUSY || status == Status::kUnavailable;
    if (!old_one_lives || steady_clock::now() > deadline) break;
    close();
    std::this_thread::sleep_for(milliseconds(10));
  }
  // With their old ids: those on this connection go on counting up.
  for (Frame& frame : again) {
    if (ok(status)) out_ += frame.bytes;
    unacknowledged_.push_back(std::move(frame));
  }
  return ok(status) ? flush() : status;
}

void Client::close() {
  socket_.close();
  out_.clear();
  out_begin_ = in_begin_ = in_end_ = 0;
  answers_.clear();
}

}  // namespace windhover
