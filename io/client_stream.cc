// A client's stream of rows: where it stands, and what became of it.
#include "windhover/io/client_stream.h"

#include <algorithm>
#include <utility>

#include "windhover/io/instance_id.h"
#include "windhover/io/producer_table.h"

namespace windhover {
namespace {

constexpr std::size_t kMostRefusedKept = 1U << 20;
constexpr std::uint32_t kWholeFrame = UINT32_MAX;

}  // namespace

std::uint64_t ClientStream::Mark::durable(const v1::ObserveAck& a, std::uint64_t acknowledged) {
  const std::uint64_t there = rows > 0 && a.durable_through() >= head ? rows : 0;
  if (there > 0 || rows == 0) *this = {a.head(), acknowledged};
  return there;
}

// Of another instance nothing is known: it may have none of the rows that the last one accepted.
// The same one with fewer rows than before has lost some, perhaps of others.
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
  mark_ = {};
  producer_ = {};
  refused_rows_.clear();
  totals_ = {};
  Status status = open(address_, options_);
  if (ok(status) && options.producer == 0 && options.resend) status = draw_producer();
  instance_ = {welcome().instance_id()};
  fingerprint_ = welcome().fingerprint();
  forgotten_ = welcome().forgotten();
  start_ = welcome().start_id();
  return ok(status) && options.producer != 0 && welcome().observes() ? ask_producer() : status;
}

// A server that would never forget it is not given one.
Status ClientStream::draw_producer() {
  if (!welcome().forgets_drawn()) return Status::kOk;
  const Result<std::uint64_t> drawn = random_instance_id();
  if (!drawn.ok()) return fail_closed(drawn.status(), "no random number is to be had");
  options_.producer = kFirstPassingProducer | (drawn.value() >> 1);
  return Status::kOk;
}

// Where the stream stands, and whether an older connection still speaks for it. Claims nothing.
Status ClientStream::ask_producer() {
  if (const Status status = producer_status(options_.producer, producer_); !ok(status)) {
    return status;
  }
  totals_.producer_next = producer_.next();
  forgotten_ = producer_.forgotten();
  if (!producer_.live() || is_passing(options_.producer)) return Status::kOk;
  close();
  return fail_refused(v1::REASON_PRODUCER_BUSY, "another connection speaks for this producer");
}

bool ClientStream::take_in(const v1::Response& response, Status& status) {
  if (response.has_observe_ack()) {
    take_in_acknowledgement(response.id(), response.observe_ack());
    return true;
  }
  const SentFrame* frame = response.has_refusal() ? frames_.find(response.id()) : nullptr;
  if (frame == nullptr) return false;
  if (frame->id <= restoring_until_) {  // one that was acknowledged before, and is still kept
    if (frame->id == restoring_until_) restoring_until_ = 0;
  } else {
    totals_.refused += frame->rows;
    ++totals_.frames_acknowledged;
    frames_.erase(frame->id);
  }
  status = refused(response.refusal());
  return true;
}

void ClientStream::take_in_acknowledgement(std::uint64_t id, const v1::ObserveAck& a) {
  totals_.head = a.head();
  totals_.producer_next = a.producer_next();
  if (restoring_until_ != 0) {
    totals_.restored += a.accepted() + a.refused();
    if (id >= restoring_until_) restoring_until_ = 0;
    return;
  }
  const int listed =
      std::min({a.refused_request_size(), a.refused_row_size(), a.refused_reason_size()});
  for (int i = 0; i < listed && refused_rows_.size() < kMostRefusedKept; ++i) {
    const SentFrame* frame = frames_.find(a.refused_request(i));
    if (frame == nullptr) continue;
    const Status reason = status_of_reason(a.refused_reason(i));
    const bool whole = a.refused_row(i) == kWholeFrame;
    for (std::uint64_t row = 0; row < (whole ? frame->rows : 1); ++row) {
      refused_rows_.push_back({frame->first_row + (whole ? row : a.refused_row(i)), reason});
    }
  }
  totals_.frames_acknowledged += frames_.acknowledge(id);
  totals_.accepted += a.accepted();
  totals_.refused += a.refused();
  totals_.duplicate += a.duplicate();
  instance_.accepted += a.accepted();
  const std::uint64_t acknowledged = totals_.sent - totals_.unknown - outstanding_rows();
  // Where an acknowledgement means the disk all that is acknowledged is there.
  totals_.durable = welcome().durability() == v1::DURABILITY_LOGGED
                        ? acknowledged
                        : std::max(totals_.durable, mark_.durable(a, acknowledged));
  frames_.trim(options_.resend_bytes, totals_.durable);
}

}  // namespace windhover
