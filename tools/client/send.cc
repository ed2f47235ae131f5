#include "windhover/tools/client/send.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "windhover/platform/histogram.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/send_batch.h"
#include "windhover/tools/client/send_link.h"
#include "windhover/tools/client/send_score.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/data/skipped_rows.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

Time now() { return std::chrono::steady_clock::now(); }

// Rows on the way at which the sender waits. The client keeps them for a reconnection, and a server
// that stalls must not make the sender grow.
constexpr std::uint64_t kMaxOutstandingRows = 200'000;
constexpr std::size_t kRefusalsListed = 10;
// How long a row of a live pipe waits for others to share its frame.
constexpr milliseconds kLongestWait{20};
// After so long without sending, a question keeps the connection open: the server closes silent
// ones (idle_timeout, a minute by default).
constexpr milliseconds kQuietTime{5'000};

class Sender {
 public:
  explicit Sender(const SendOptions& options)
      : options_(options),
        schema_(Schema::from_file(options.schema)),
        table_(std::make_unique<Table>(options.path, schema_.table_options())),
        encoder_(schema_, *table_),
        hashed_(schema_),
        skipped_(options.on_skipped),
        link_(options) {
    check_schema(client_, schema_);
    report_.durable = client_.welcome().durability() == v1::DURABILITY_LOGGED;
    if (options.score_every > 0) score_.emplace(options, client_, schema_);
  }

  SendReport run() {
    start_ = now();
    std::string bad_row;
    do {
      if (link_.reads_again()) read_again();
      bad_row.clear();
      try {
        read_and_send();
      } catch (const UserError& error) {
        bad_row = error.what();  // the rows before it are accounted for first
      }
      if (!link_.reads_again() && !batch_.empty()) hand_over();
      if (!link_.reads_again()) {
        link_.carry_through([](Client& client) { return client.wait_acknowledged(); });
      }
    } while (link_.reads_again());
    if (rows_ < most_rows_) {
      link_.give_up(fmt::format("{} has fewer rows than when it was read first", options_.path));
    }
    note_acknowledgements();
    finish();
    if (!bad_row.empty()) {
      throw UserError(fmt::format("{}; the rows before it: {}", bad_row, report_.closing_line()));
    }
    remark();
    return std::move(report_);
  }

 private:
  void read_and_send() {
    // At a given rate a frame holds at most a second's rows, because a server closes silent
    // connections.
    const double most = static_cast<double>(options_.batch);
    const double paced = options_.rate > 0 ? std::clamp(options_.rate, 1.0, most) : most;
    const auto batch = static_cast<std::uint64_t>(paced);
    EncodedRow row;
    while (!link_.reads_again() && (options_.limit == 0 || rows_ < options_.limit)) {
      if (!table_->row_waits()) await_row();
      if (link_.reads_again() || !table_->next()) break;
      if (!encoder_.encode(*table_, row)) {
        skipped_.add(row.skipped);
        continue;
      }
      const bool first_time = rows_ >= most_rows_;
      const bool known = link_.place().first + rows_ < link_.place().from;
      if (first_time) {
        most_rows_ = rows_ + 1;
        positive_ += row.target == 1.0 ? 1 : 0;
        hashed_.add(row);
        if (known) ++report_.already;
        if (score_ && !known) score_->add(rows_, row);
      }
      ++rows_;
      if (known) continue;
      if (batch_.empty()) batch_began_ = now();
      batch_.add(row, schema_);
      if (batch_.size() >= batch) hand_over();
    }
  }

  // Begins the file again: rows that the server has are skipped.
  void read_again() {
    link_.begin_again();
    batch_ = {};
    in_flight_.clear();
    ++report_.read_again;
    skipped_.begin_again();
    rows_ = 0;
    table_ = std::make_unique<Table>(options_.path, schema_.table_options());
  }

  // Waits until the next row of a pipe has come, and sends what was read before.
  void await_row() {
    if (!batch_.empty()) {
      if (table_->ready_by(batch_began_ + kLongestWait)) return;
      hand_over();
    }
    if (link_.reads_again() || table_->ready_by(now())) return;
    link_.carry_through([](Client& client) { return client.flush(); });
    Time quiet_until = now() + kQuietTime;
    while (!link_.reads_again()) {
      const bool on_the_way = client_.outstanding_rows() > 0;
      if (table_->ready_by(on_the_way ? now() + milliseconds(1) : quiet_until)) return;
      if (on_the_way) {
        link_.carry_through([](Client& client) { return client.poll_acknowledgements(); });
        note_acknowledgements();
      } else if (now() >= quiet_until) {
        v1::StatusResult ignored;
        link_.carry_through([&](Client& client) { return client.status(ignored); });
        quiet_until = now() + kQuietTime;
      }
    }
  }

  // Notes what looks like a mistake although every row is accounted for.
  void remark() {
    const ObserveTotals& t = report_.totals;
    if (t.sent > 0 && t.duplicate == t.sent && link_.reconnections() == 0) {
      link_.note(
          fmt::format("producer {} had sent all of these before: rows of another file need "
                      "another --producer, or --append",
                      options_.producer));
    }
    const auto& positive = schema_.target_rule().positive;
    if (positive && rows_ > 0 && positive_ == 0) {
      link_.note(fmt::format("no row's target was \"{}\"", *positive));
    }
  }

  void hand_over() {
    wait_for_pace();
    // Notices a server that went while nothing was on its way: no row is lost with it.
    if (client_.outstanding_rows() == 0) {
      link_.carry_through([](Client& client) { return client.poll_acknowledgements(); });
    }
    if (link_.reads_again()) return;
    // The client sends again by itself what it has taken; the rest of a batch is sent here.
    while (!batch_.empty()) {
      const std::uint64_t before = client_.totals().sent;
      link_.carry_through([this](Client& client) { return client.send_observe(batch_.rows()); });
      if (link_.reads_again()) return;
      batch_.drop(client_.totals().sent - before);
    }
    in_flight_.emplace_back(client_.totals().sent, now());
    // At full speed the client's own buffer decides when bytes go out.
    if (options_.rate > 0) link_.carry_through([](Client& client) { return client.flush(); });
    link_.carry_through([](Client& client) { return client.poll_acknowledgements(); });
    if (client_.outstanding_rows() > kMaxOutstandingRows) {
      link_.carry_through([](Client& client) { return client.wait_acknowledged(); });
    }
    if (link_.reads_again()) return;
    note_acknowledgements();
    report_progress(false);
  }

  void wait_for_pace() {
    if (options_.rate <= 0) return;
    const double due = static_cast<double>(rows_ - report_.already) / options_.rate;
    const Time when = start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                   std::chrono::duration<double>(due));
    while (!link_.reads_again() && now() < when) {
      // Wakes often, so that the lag shown is that of the server and not of this sleep.
      const Time soon = now() + std::chrono::milliseconds(1);
      std::this_thread::sleep_until(std::min(when, soon));
      if (client_.outstanding_rows() == 0) continue;
      link_.carry_through([](Client& client) { return client.poll_acknowledgements(); });
      note_acknowledgements();
    }
  }

  void note_acknowledgements() {
    const ObserveTotals& t = client_.totals();
    const std::uint64_t answered = t.accepted + t.refused + t.duplicate + t.unknown;
    const Time here = now();
    while (!in_flight_.empty() && in_flight_.front().first <= answered) {
      last_lag_ns_ = std::chrono::nanoseconds(here - in_flight_.front().second).count();
      lag_.record(last_lag_ns_);
      in_flight_.pop_front();
    }
    for (const ClientRefusedRow& refused : client_.take_refused_rows()) {
      if (report_.refused.size() < kRefusalsListed) report_.refused.push_back(refused);
    }
  }

  double seconds() const { return std::chrono::duration<double>(now() - start_).count(); }

  void report_progress(bool last) {
    const Time here = now();
    if (!options_.on_progress || (!last && here < next_progress_)) return;
    next_progress_ = here + milliseconds(200);
    const double part = options_.limit > 0
                            ? static_cast<double>(rows_) / static_cast<double>(options_.limit)
                            : table_->progress();
    options_.on_progress(
        part,
        fmt::format("{} rows, {:.0f}/s, acknowledged after {}, {} rows on the way", rows_,
                    static_cast<double>(rows_) / seconds(),
                    duration_text(static_cast<double>(last_lag_ns_)), client_.outstanding_rows()));
  }

  void finish() {
    report_.seconds = seconds();
    report_.totals = client_.totals();
    report_.reconnections = link_.reconnections();
    if (score_) report_.score = score_->score();
    report_.hashed = hashed_.to_json();
    report_.skipped = skipped_.total();
    report_.unreadable = skipped_.unreadable();
    report_.lag_p50_ns = lag_.quantile(0.5);
    report_.lag_p99_ns = lag_.quantile(0.99);
    report_.lag_max_ns = lag_.max();
    report_progress(true);
  }

  const SendOptions& options_;
  Schema schema_;
  std::unique_ptr<Table> table_;
  RowEncoder encoder_;
  HashTallies hashed_;
  SkippedRows skipped_;
  SendLink link_;
  Client& client_ = link_.client();
  std::optional<SendScore> score_;
  Time next_progress_;
  SendReport report_;
  SendBatch batch_;
  Time batch_began_;             // when its first row was read
  std::uint64_t rows_ = 0;       // of the file, read so far and not skipped
  std::uint64_t most_rows_ = 0;  // the most so far, also before the file was read again
  std::uint64_t positive_ = 0;
  Time start_;
  std::deque<std::pair<std::uint64_t, Time>> in_flight_;  // rows sent by then, and when
  Histogram lag_;
  std::int64_t last_lag_ns_ = 0;
};

}  // namespace

SendReport send_file(const SendOptions& options) { return Sender(options).run(); }

}  // namespace windhover
