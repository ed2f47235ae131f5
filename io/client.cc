#include "windhover/io/client.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "windhover/io/framing.h"

namespace windhover {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::uint32_t kLargestReply = 1U << 30;
constexpr std::size_t kMostRefusedKept = 1U << 20;
constexpr std::uint32_t kWholeFrame = UINT32_MAX;

// Reasons that only a conversation has, and those of a newer server, are kRefused.
Status status_of(std::uint32_t reason) {
  return reason > 0 && reason < static_cast<std::uint32_t>(Status::kCount)
             ? static_cast<Status>(reason)
             : Status::kRefused;
}

// "sequence_gap" for REASON_SEQUENCE_GAP.
std::string label_of(v1::Reason reason) {
  constexpr std::string_view kPrefix = "REASON_";
  std::string label = v1::Reason_Name(reason);
  if (label.size() < kPrefix.size()) return "reason " + std::to_string(static_cast<int>(reason));
  label.erase(0, kPrefix.size());
  std::transform(label.begin(), label.end(), label.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return label;
}

}  // namespace

// --- Errors

Status Client::fail(Status status, std::string text, std::uint64_t number) {
  error_text_ = std::move(text);
  refusal_ = v1::REASON_OK;
  error_number_ = number;
  return status;
}

Status Client::fail_closed(Status status, std::string text, std::uint64_t number) {
  close();
  return fail(status, std::move(text), number);
}

Status Client::refused(const v1::Refusal& refusal) {
  const Status status = status_of(static_cast<std::uint32_t>(refusal.reason()));
  if (refusal.closing()) close();
  (void)fail(status, "the server refuses: " + label_of(refusal.reason()), refusal.number());
  refusal_ = refusal.reason();
  return status;
}

// --- Bytes

// The bytes stay where they are until something is appended or sent.
std::string_view Client::append(const v1::Request& request) {
  const std::size_t size = request.ByteSizeLong();
  const std::size_t begin = out_.size();
  out_.resize(begin + kMaxFrameHeader + size);
  auto* at = reinterpret_cast<std::byte*>(out_.data() + begin);
  const std::size_t header = write_frame_header(static_cast<std::uint32_t>(size), at);
  request.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(at + header));
  out_.resize(begin + header + size);
  return std::string_view(out_).substr(begin);
}

// Waits for bytes to come, or for room to send, and takes what has come.
Status Client::receive_bytes(bool to_send) {
  if (const Status status = socket_.wait(to_send, options_.reply_timeout); !ok(status)) {
    return status == Status::kTimeout ? fail(status, "the server does not answer")
                                      : fail(status, "not connected");
  }
  if (in_begin_ > 0) {
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  if (in_.size() - in_end_ < kReadBytes) in_.resize(in_end_ + kReadBytes);
  std::size_t received = 0;
  const Status status = socket_.receive_some(in_.data() + in_end_, in_.size() - in_end_, received);
  if (!ok(status)) {
    for (const v1::Response& answer : answers_) {
      if (answer.has_refusal() && answer.refusal().closing()) {
        return refused(v1::Refusal(answer.refusal()));
      }
    }
    return fail_closed(status, "the server has closed the connection");
  }
  in_end_ += received;
  return Status::kOk;
}

Status Client::flush() {
  Status result = Status::kOk;
  while (out_begin_ < out_.size()) {
    std::size_t sent = 0;
    const Status status =
        socket_.send_some(out_.data() + out_begin_, out_.size() - out_begin_, sent);
    out_begin_ += sent;
    if (ok(status) && sent > 0) continue;
    // No room, or gone: then the server may have said why before it went.
    Status received = receive_bytes(ok(status));
    if (const Status taken = take_in_all(); !ok(taken)) result = taken;
    if (!ok(received)) return ok(result) ? received : result;
    if (!connected()) return result;
  }
  out_.clear();
  out_begin_ = 0;
  return result;
}

// --- Responses

// Reads every whole response that is there.
Status Client::take_in_all() {
  Status result = Status::kOk;
  for (;;) {
    const std::span<const char> there{in_.data() + in_begin_, in_end_ - in_begin_};
    const FrameScan scan = scan_frame(std::as_bytes(there), kLargestReply);
    if (scan.kind == FrameScan::kNeedMore) return result;
    v1::Response response;
    if (scan.kind != FrameScan::kFrame ||
        !response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()))) {
      return fail_closed(Status::kMalformed, "the server's answer cannot be read");
    }
    in_begin_ += scan.consumed;
    bool about_observing = false;
    const Status status = take_in(response, about_observing);
    if (!ok(status) && ok(result)) result = status;
    if (!about_observing) answers_.push_back(std::move(response));
  }
}

Status Client::take_in(const v1::Response& response, bool& about_observing) {
  about_observing = true;
  if (response.has_observe_ack()) {
    take_in_acknowledgement(response.id(), response.observe_ack());
    return Status::kOk;
  }
  Frame* frame = response.has_refusal() ? find_frame(response.id()) : nullptr;
  if (frame == nullptr) {
    about_observing = false;
    return Status::kOk;
  }
  if (frame->id <= restoring_until_) {  // one that was acknowledged before
    restoring_until_ = 0;
    return refused(response.refusal());
  }
  totals_.refused += frame->rows;
  outstanding_rows_ -= frame->rows;
  ++totals_.frames_acknowledged;
  kept_bytes_ -= frame->bytes.size();
  on_the_way_bytes_ -= frame->bytes.size();
  const auto at = std::lower_bound(frames_.begin(), frames_.end(), frame->id,
                                   [](const Frame& f, std::uint64_t id) { return f.id < id; });
  frames_.erase(at);
  return refused(response.refusal());
}

void Client::take_in_acknowledgement(std::uint64_t id, const v1::ObserveAck& a) {
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
    const Frame* frame = find_frame(a.refused_request(i));
    if (frame == nullptr) continue;
    const Status reason = status_of(a.refused_reason(i));
    const bool whole = a.refused_row(i) == kWholeFrame;
    for (std::uint64_t row = 0; row < (whole ? frame->rows : 1); ++row) {
      refused_rows_.push_back({frame->first_row + (whole ? row : a.refused_row(i)), reason});
    }
  }
  for (; held_ < frames_.size() && frames_[held_].id <= id; ++held_) {
    outstanding_rows_ -= frames_[held_].rows;
    on_the_way_bytes_ -= frames_[held_].bytes.size();
    ++totals_.frames_acknowledged;
  }
  totals_.accepted += a.accepted();
  totals_.refused += a.refused();
  totals_.duplicate += a.duplicate();
  accepted_there_ += a.accepted();
  note_durable(a);
  trim();
}

// Where an acknowledgement means the disk all that is acknowledged is there. Where it comes at
// once, what was acknowledged up to a mark is there when the head of then is.
void Client::note_durable(const v1::ObserveAck& a) {
  const std::uint64_t acknowledged = totals_.sent - totals_.unknown - outstanding_rows_;
  if (welcome_.durability() == v1::DURABILITY_LOGGED) {
    totals_.durable = acknowledged;
    return;
  }
  if (mark_.rows > 0 && a.durable_through() >= mark_.head) {
    totals_.durable = std::max(totals_.durable, mark_.rows);
    mark_ = {};
  }
  if (mark_.rows == 0) mark_ = {a.head(), acknowledged};
}

void Client::drop_front() {
  kept_bytes_ -= frames_.front().bytes.size();
  frames_.pop_front();
  --held_;
}

// Forgets acknowledged frames for which there is no need or no room.
void Client::trim() {
  const auto needless = [this](const Frame& frame) {
    return options_.producer == 0 || frame.first_row + frame.rows <= totals_.durable;
  };
  while (held_ > 0 && (kept_bytes_ > options_.resend_bytes || needless(frames_.front()))) {
    drop_front();
  }
}

// Ids rise from front to back.
Client::Frame* Client::find_frame(std::uint64_t id) {
  const auto at =
      std::lower_bound(frames_.begin(), frames_.end(), id,
                       [](const Frame& frame, std::uint64_t wanted) { return frame.id < wanted; });
  return at != frames_.end() && at->id == id ? &*at : nullptr;
}

// --- Asking

Status Client::send(v1::Request& request) {
  if (!connected()) return fail(Status::kClosed, "not connected");
  request.set_id(next_id_++);
  append(request);
  return flush();
}

Status Client::receive(v1::Response& response) {
  for (;;) {
    if (const Status taken = take_in_all(); !ok(taken)) return taken;
    if (!answers_.empty()) {
      response = std::move(answers_.front());
      answers_.pop_front();
      return Status::kOk;
    }
    if (const Status received = receive_bytes(false); !ok(received)) return received;
  }
}

Status Client::ask(v1::Request& request, v1::Response& response) {
  if (const Status status = send(request); !ok(status)) return status;
  do {
    if (const Status status = receive(response); !ok(status)) return status;
  } while (response.id() != request.id() &&
           !(response.has_refusal() && response.refusal().closing()));
  return response.has_refusal() ? refused(response.refusal()) : Status::kOk;
}

}  // namespace windhover
