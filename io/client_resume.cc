// How a client connects again: what is sent again, what is missing, when it gives up.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "windhover/io/client.h"
#include "windhover/io/framing.h"

namespace windhover {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{2'000};

std::string times(std::uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

Status Client::reconnect() {
  const auto begin = steady_clock::now();
  // Half of each pause is up to chance, or the clients of a server that restarts come all at once.
  std::minstd_rand random(
      static_cast<std::minstd_rand::result_type>(begin.time_since_epoch().count()));
  std::uniform_real_distribution<double> part(0.5, 1.0);
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const Status status = take_up_again();
    const bool may_pass = refusal_ == v1::REASON_PRODUCER_BUSY || status == Status::kUnavailable ||
                          status == Status::kClosed || status == Status::kIoError ||
                          status == Status::kTimeout;
    if (ok(status) || !may_pass) return status;
    const auto spent = steady_clock::now() - begin;
    if (spent >= options_.retry_for) {
      if (options_.retry_for.count() > 0) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(spent).count();
        error_text_ += "; gave up after " + times(static_cast<std::uint64_t>(seconds), "second");
      }
      return status;
    }
    close();
    const auto chosen = std::chrono::duration_cast<steady_clock::duration>(pause * part(random));
    std::this_thread::sleep_for(
        std::min<steady_clock::duration>(chosen, options_.retry_for - spent));
  }
}

Status Client::take_up_again() {
  missing_ = {};
  restoring_until_ = 0;
  if (options_.producer == 0) {
    rows_lost_ = rows_lost_ || !frames_.empty();
    totals_.unknown += outstanding_rows_;
    outstanding_rows_ = 0;
    frames_.clear();
    held_ = 0;
  }
  const std::uint64_t head = std::max(totals_.head, welcome_.head());
  const std::uint64_t meaning = welcome_.fingerprint();
  if (const Status status = open_connection(); !ok(status)) return status;
  if (welcome_.fingerprint() != meaning) {
    const std::uint64_t other = welcome_.fingerprint();
    welcome_.set_fingerprint(meaning);
    (void)fail_closed(Status::kRefused, "the server's rows mean something else than before", other);
    refusal_ = v1::REASON_FINGERPRINT_MISMATCH;
    return Status::kRefused;
  }
  const std::uint64_t before = std::exchange(instance_, welcome_.instance_id());
  if (before != instance_) ++totals_.histories;
  mark_ = {};
  if (options_.producer == 0) {
    count_lost_without_producer(before, head);
    return Status::kOk;
  }
  const std::uint64_t most = std::max(next_sequence_, totals_.producer_next);
  if (const Status status = ask_producer(); !ok(status)) return status;
  if (producer_.next() > most) {
    return fail_closed(Status::kRefused, "another client has sent rows as this producer",
                       producer_.next());
  }
  return find_missing();
}

// What the server expects next is where this client goes on, if it still has the rows.
Status Client::find_missing() {
  std::uint64_t from = producer_.next();
  if (!producer_.known() && begins_here_) from = begin_sequence_;
  const std::uint64_t kept = frames_.empty() ? next_sequence_ : frames_.front().first_sequence;
  if (from >= kept) return send_again(from);
  missing_ = {from, kept - from};
  return fail(Status::kRefused,
              "the server no longer has " + times(missing_.count, "row") +
                  " of this producer, nor are they kept here",
              from);
}

// Frames that were acknowledged come first and by themselves: what is said of them has been counted
// before.
Status Client::send_again(std::uint64_t from) {
  const auto held_end = frames_.begin() + static_cast<std::ptrdiff_t>(held_);
  const auto first = std::find_if(frames_.begin(), held_end,
                                  [from](const Frame& frame) { return frame.end() > from; });
  if (first != held_end) {
    for (auto frame = first; frame != held_end; ++frame) out_ += frame->bytes;
    restoring_until_ = frames_[held_ - 1].id;
    Status status = flush();
    if (ok(status)) status = wait_until([this] { return restoring_until_ == 0; });
    if (!ok(status)) {
      restoring_until_ = 0;
      return status;
    }
  }
  // With their old ids: those of later frames go on counting up.
  for (std::size_t i = held_; i < frames_.size(); ++i) out_ += frames_[i].bytes;
  return flush();
}

Status Client::go_back(std::uint64_t sequence) {
  const std::uint64_t acknowledged =
      held_ < frames_.size() ? frames_[held_].first_sequence : next_sequence_;
  if (const Status status = leave_before(sequence); !ok(status)) return status;
  const std::uint64_t again = acknowledged - std::min(acknowledged, sequence);
  totals_.restored += again;
  totals_.sent -= outstanding_rows_;
  totals_.frames_sent -= outstanding_frames();
  totals_.durable = std::min(totals_.durable, totals_.sent - std::min(again, totals_.sent));
  outstanding_rows_ = 0;
  frames_.clear();
  held_ = kept_bytes_ = on_the_way_bytes_ = 0;
  next_sequence_ = sequence;
  missing_ = {};
  return Status::kOk;
}

Status Client::leave_missing() {
  const std::uint64_t from = missing_.first + missing_.count;
  if (const Status status = leave_before(from); !ok(status)) return status;
  missing_ = {};
  begin_at_front();
  return send_again(from);
}

// The missing rows before `sequence` are lost, if the server takes the stream up behind them.
Status Client::leave_before(std::uint64_t sequence) {
  if (!connected()) return fail(Status::kClosed, "not connected");
  if (sequence == missing_.first) return Status::kOk;
  if (producer_.known()) {
    (void)fail(Status::kRefused, "the server knows an earlier part of the stream and takes no gap",
               producer_.next());
    refusal_ = v1::REASON_SEQUENCE_GAP;
    return Status::kRefused;
  }
  totals_.lost += sequence - missing_.first;
  begins_here_ = true;
  begin_sequence_ = sequence;
  return Status::kOk;
}

// The first frame kept says that nothing comes before it.
void Client::begin_at_front() {
  if (frames_.empty()) return;
  Frame& frame = frames_.front();
  const FrameScan scan = scan_frame(std::as_bytes(std::span(frame.bytes)), UINT32_MAX);
  v1::Request request;
  if (!request.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()))) return;
  request.mutable_observe()->set_begins_here(true);
  const std::size_t before = frame.bytes.size();
  frame.bytes = append(request);
  out_.clear();
  out_begin_ = 0;
  kept_bytes_ += frame.bytes.size() - before;
  if (held_ == 0) on_the_way_bytes_ += frame.bytes.size() - before;
}

// Of another instance nothing is known: it may have none of the rows that the last one accepted.
// The same one with fewer rows than before has lost some, perhaps of others.
void Client::count_lost_without_producer(std::uint64_t instance_before, std::uint64_t head_before) {
  std::uint64_t lost = 0;
  if (instance_before != instance_) {
    lost = accepted_there_;
  } else if (welcome_.head() < head_before) {
    lost = std::min(accepted_there_, head_before - welcome_.head());
  }
  accepted_there_ -= lost;
  totals_.lost += lost;
  totals_.head = welcome_.head();
}

}  // namespace windhover
