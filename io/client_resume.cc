// How a client connects again: what it sends again, what is missing, and when it gives up.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "windhover/io/client_stream.h"
#include "windhover/io/producer_table.h"

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

Status ClientStream::reconnect() {
  const auto begin = steady_clock::now();
  // Half of each pause is random: otherwise all clients of a server that restarts come at once.
  std::minstd_rand random(
      static_cast<std::minstd_rand::result_type>(begin.time_since_epoch().count()));
  std::uniform_real_distribution<double> part(0.5, 1.0);
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const Status status = take_up_again();
    const bool may_pass = refusal() == v1::REASON_PRODUCER_BUSY ||
                          refusal() == v1::REASON_TABLE_FULL || status == Status::kUnavailable ||
                          status == Status::kClosed || status == Status::kIoError ||
                          status == Status::kTimeout;
    if (ok(status) || !may_pass) return status;
    const auto spent = steady_clock::now() - begin;
    if (spent >= options_.retry_for) {
      if (options_.retry_for.count() > 0) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(spent).count();
        add_to_error("; gave up after " + times(static_cast<std::uint64_t>(seconds), "second"));
      }
      return status;
    }
    close();
    const auto chosen = std::chrono::duration_cast<steady_clock::duration>(pause * part(random));
    std::this_thread::sleep_for(
        std::min<steady_clock::duration>(chosen, options_.retry_for - spent));
  }
}

Status ClientStream::take_up_again() {
  missing_ = {};
  restoring_until_ = 0;
  if (!resends()) give_up_outstanding();
  const std::uint64_t head = std::max(account_.totals().head, welcome().head());
  if (const Status status = open(address_, options_); !ok(status)) return status;
  if (welcome().fingerprint() != fingerprint_) {
    close();
    return fail_refused(v1::REASON_FINGERPRINT_MISMATCH,
                        "the server's rows mean something else than before",
                        welcome().fingerprint());
  }
  const std::uint64_t most = std::max(next_sequence_, account_.totals().producer_next);
  const std::uint64_t forgotten = forgotten_;
  if (resends() && (!is_passing(options_.producer) || account_.totals().sent > 0)) {
    if (const Status status = ask_producer(); !ok(status)) return status;
  } else {
    forgotten_ = welcome().forgotten();
  }
  const std::uint64_t before = std::exchange(instance_.id, welcome().instance_id());
  if (before != instance_.id) ++account_.totals().histories;
  const bool same_start = std::exchange(start_, welcome().start_id()) == welcome().start_id();
  account_.connect_again();
  const bool perhaps_forgotten = is_passing(options_.producer) && account_.totals().sent > 0 &&
                                 !producer_.known() && forgotten_ != 0 && forgotten_ != forgotten;
  if (!resends() || perhaps_forgotten) {
    give_up_outstanding();
    beginning_ = {true, next_sequence_};
    const std::uint64_t lost = instance_.lost(before, head, welcome().head());
    // The same start of the server has all that it acknowledged; another has what was on disk.
    account_.totals().lost +=
        !resends()   ? lost
        : same_start ? 0
                     : account_.totals().accepted -
                           std::min(account_.totals().accepted, account_.totals().durable);
    account_.totals().head = welcome().head();
    return Status::kOk;
  }
  if (producer_.next() > most) {
    return fail_closed(Status::kRefused, "another client has sent rows as this producer",
                       producer_.next());
  }
  return find_missing();
}

// Nobody can tell any more whether the rows on their way were learned.
void ClientStream::give_up_outstanding() {
  rows_lost_ = rows_lost_ || outstanding_frames() > 0;
  account_.totals().unknown += outstanding_rows();
  frames_.clear();
}

// The client goes on with what the server expects next, if it still has these rows.
Status ClientStream::find_missing() {
  std::uint64_t from = producer_.next();
  if (beginning_.here && (is_passing(options_.producer) || !producer_.known())) {
    from = std::max(from, beginning_.sequence);
  }
  const std::uint64_t kept = frames_.first_kept(next_sequence_);
  // Rows of a drawn producer of which none was taken are not missing: they were refused, and the
  // client was told.
  const bool had_rows = account_.totals().accepted + account_.totals().duplicate > 0;
  if (from >= kept || (is_passing(options_.producer) && !had_rows)) return send_again(from);
  missing_ = {from, kept - from};
  return fail(Status::kRefused,
              "the server no longer has " + times(missing_.count, "row") +
                  " of this producer, nor are they kept here",
              from);
}

// Frames that were acknowledged before are sent first, by themselves: their acknowledgements must
// not be counted twice.
Status ClientStream::send_again(std::uint64_t from) {
  std::string bytes;
  restoring_until_ = frames_.append_held(from, bytes);
  channel().append(bytes);
  if (restoring_until_ != 0) {
    Status status = flush();
    if (ok(status)) status = wait_until([this] { return restoring_until_ == 0; });
    restoring_until_ = 0;
    if (!ok(status)) {
      close();  // what comes after them cannot be sent before them
      return status;
    }
  }
  // They keep their ids, so that ids still rise with the frames.
  bytes.clear();
  frames_.append_on_the_way(bytes);
  channel().append(bytes);
  return flush();
}

Status ClientStream::go_back(std::uint64_t sequence) {
  const std::uint64_t acknowledged = frames_.first_on_the_way(next_sequence_);
  if (const Status status = leave_before(sequence); !ok(status)) return status;
  const std::uint64_t again = acknowledged - std::min(acknowledged, sequence);
  account_.totals().restored += again;
  account_.totals().sent -= outstanding_rows();
  account_.totals().frames_sent -= outstanding_frames();
  account_.totals().durable = std::min(
      account_.totals().durable, account_.totals().sent - std::min(again, account_.totals().sent));
  frames_.clear();
  next_sequence_ = sequence;
  missing_ = {};
  return Status::kOk;
}

Status ClientStream::leave_missing() {
  const std::uint64_t from = missing_.first + missing_.count;
  if (const Status status = leave_before(from); !ok(status)) return status;
  missing_ = {};
  frames_.begin_at_front();
  return send_again(from);
}

// Counts the missing rows before `sequence` as lost, if the server takes the stream up behind them.
Status ClientStream::leave_before(std::uint64_t sequence) {
  if (!connected()) return fail(Status::kClosed, "not connected");
  if (sequence == missing_.first) return Status::kOk;
  if (producer_.known() && !is_passing(options_.producer)) {
    return fail_refused(v1::REASON_SEQUENCE_GAP,
                        "the server knows an earlier part of the stream and takes no gap",
                        producer_.next());
  }
  std::uint64_t lost = sequence - missing_.first;
  // The acknowledged rows of a drawn producer are all in totals(); the others were refused, and the
  // client was told.
  if (is_passing(options_.producer))
    lost = std::min(lost, account_.totals().accepted + account_.totals().duplicate);
  account_.totals().lost += lost;
  beginning_ = {true, sequence};
  return Status::kOk;
}

}  // namespace windhover
