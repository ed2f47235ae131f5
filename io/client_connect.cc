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
  return ok(status) && options_.producer != 0 && welcome_.observes() ? claim_producer(0) : status;
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

// An Observe without rows. A server that does not know the producer takes the stream up there.
Status Client::claim_producer(std::uint64_t first_row) {
  v1::Request request;
  v1::Observe* observe = request.mutable_observe();
  observe->set_producer(options_.producer);
  observe->set_first_sequence(options_.first_sequence + first_row);
  const Status status = send(request);
  if (!ok(status)) return status;
  const std::uint64_t id = request.id();
  unacknowledged_.push_front({id, first_row, 0, ""});
  ++totals_.frames_sent;
  Status result = Status::kOk;
  while (find_frame(id) != nullptr) {
    if (const Status taken = take_in_all(); !ok(taken)) result = taken;
    if (find_frame(id) == nullptr || !connected()) break;
    if (const Status received = receive_bytes(false); !ok(received)) {
      result = received;
      break;
    }
  }
  // Unanswered it goes with the connection: older frames come behind it, and their ids must rise.
  // It goes now: an answer that came late would pass for one to rows that were not sent.
  if (find_frame(id) != nullptr) {
    unacknowledged_.pop_front();
    --totals_.frames_sent;
    close();
  }
  return result;
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
  const std::uint64_t first_row = again.empty() ? totals_.sent : again.front().first_row;
  Status status;
  for (;;) {
    status = open_connection();
    if (ok(status)) status = claim_producer(first_row);
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
