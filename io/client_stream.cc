// A client's stream of rows: how it begins, and what became of its rows.
#include "windhover/io/client_stream.h"

#include <algorithm>
#include <utility>

#include "windhover/io/instance_id.h"
#include "windhover/io/producer_table.h"

namespace windhover {

// A new instance may have none of the rows that the last one accepted. The same one with fewer rows
// than before has lost some, which may be other clients'.
std::uint64_t ClientStream::Instance::lost(std::uint64_t id_before, std::uint64_t head_before,
                                           std::uint64_t head) {
  std::uint64_t rows = 0;
  if (id_before != id) {
    rows = accepted;
  } else if (head < head_before) {
    rows = std::min(accepted, head_before - head);
  }
  accepted -= rows;
  return rows;
}

Status ClientStream::connect(std::string_view address, const ClientOptions& options) {
  close();
  if (!parse_address(address, address_)) {
    return fail(
        Status::kInvalidArgument,
        std::string(address) + ": expected host:port, [v6]:port, tls://host:port or unix:/path");
  }
  if (is_passing(options.producer)) {
    return fail(Status::kInvalidArgument, "a producer is a number below 2^63");
  }
  if (options.producer != 0 && !options.resend) {
    return fail(Status::kInvalidArgument, "rows of a producer are always sent again");
  }
  if (options.producer == 0 && (options.first_sequence != 0 || options.begins_here)) {
    return fail(Status::kInvalidArgument,
                "first_sequence and begins_here are of a stream whose producer is given");
  }
  options_ = options;
  frames_.clear();
  next_sequence_ = options.first_sequence;
  beginning_ = {options.begins_here, options.first_sequence};
  missing_ = {};
  restoring_until_ = 0;
  rows_lost_ = false;
  producer_ = {};
  account_.begin();
  Status status = open(address_, options_);
  if (ok(status) && options.producer == 0 && options.resend && welcome().forgets_drawn()) {
    // Only a server that can forget a producer gets a drawn one.
    const Result<std::uint64_t> drawn = random_instance_id();
    if (!drawn.ok()) {
      status = fail_closed(drawn.status(), "no random number is to be had");
    } else {
      options_.producer = kFirstPassingProducer | (drawn.value() >> 1);
    }
  }
  instance_ = {welcome().instance_id()};
  fingerprint_ = welcome().fingerprint();
  forgotten_ = welcome().forgotten();
  start_ = welcome().start_id();
  return ok(status) && options.producer != 0 && welcome().observes() ? ask_producer() : status;
}

// Asks where the stream stands, and whether an older connection still speaks for it. Claims
// nothing.
Status ClientStream::ask_producer() {
  if (const Status status = producer_status(options_.producer, producer_); !ok(status)) {
    return status;
  }
  account_.totals().producer_next = producer_.next();
  forgotten_ = producer_.forgotten();
  if (!producer_.live() || is_passing(options_.producer)) return Status::kOk;
  close();
  return fail_refused(v1::REASON_PRODUCER_BUSY, "another connection speaks for this producer");
}

bool ClientStream::take_in(const v1::Response& response, Status& status) {
  ObserveTotals& totals = account_.totals();
  if (response.has_observe_ack()) {
    const v1::ObserveAck& a = response.observe_ack();
    totals.head = a.head();
    totals.producer_next = a.producer_next();
    if (restoring_until_ != 0) {
      totals.restored += a.accepted() + a.refused();
      if (response.id() >= restoring_until_) restoring_until_ = 0;
      return true;
    }
    const bool logged = welcome().durability() == v1::DURABILITY_LOGGED;
    account_.acknowledge(response.id(), a, logged, frames_);
    instance_.accepted += a.accepted();
    frames_.trim(options_.resend_bytes, totals.durable);
    return true;
  }
  const SentFrame* frame = response.has_refusal() ? frames_.find(response.id()) : nullptr;
  if (frame == nullptr) return false;
  if (frame->id <= restoring_until_) {  // one that was acknowledged before, and is still kept
    if (frame->id == restoring_until_) restoring_until_ = 0;
  } else {
    totals.refused += frame->rows;
    ++totals.frames_acknowledged;
    frames_.erase(frame->id);
  }
  status = refused(response.refusal());
  return true;
}

}  // namespace windhover
