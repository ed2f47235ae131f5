#include "windhover/tools/daemon/watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

#include "windhover/platform/memory.h"

namespace windhover {
namespace {

using std::chrono::nanoseconds;
constexpr nanoseconds kWatchPeriod = std::chrono::seconds(1);

}  // namespace

Watcher::Watcher(Watched watched, Reader reader, const WatchdogOptions& options, DaemonLog& log,
                 Notifier& notifier)
    : watched_(std::move(watched)),
      reader_(reader),
      parameters_(watched_.engine.dimension()),
      options_(options),
      log_(log),
      notifier_(notifier),
      started_ns_(clock_.now_ns()),
      last_ns_(started_ns_),
      status_(watched_.model, log),
      counts_(watched_.engine.counters(), watched_.server.counters(), log),
      keeping_(watched_.server.log(), watched_.server.checkpoints(), log),
      stalls_(log, options.timeout, beats()) {}

Stalls::Beats Watcher::beats() const noexcept {
  return {watched_.learner.beat_ns(), watched_.server.observe_beat_ns(),
          watched_.server.query_beat_ns()};
}

Watcher::End Watcher::run(const sigset_t& signals) noexcept {
  nanoseconds period = kWatchPeriod;
  if (notifier_.watchdog().count() > 0) {
    period = std::min<nanoseconds>(period, notifier_.watchdog() / 2);
  }
  while (true) {
    const int signal = wait(signals, period);
    if (signal == SIGHUP) {
      reload();
    } else if (signal > 0) {
      signal_ = signal;
      LogLine line = log_.line(LogLevel::kInfo, "stopping");
      log_.write(line.add("signal", sigabbrev_np(signal)));
      notifier_.stopping();
      return End::kSignal;
    }
    const std::int64_t now_ns = clock_.now_ns();
    // A process that was stopped as a whole has not stood still.
    const nanoseconds watched = std::min(nanoseconds(now_ns - last_ns_), 2 * period);
    last_ns_ = now_ns;
    stalls_.look(beats(), watched);
    look();
    if (stalls_.first().empty()) {
      notifier_.alive();
    } else if (options_.exit) {
      return End::kStalled;
    }
  }
}

// The signal; 0: none came.
int Watcher::wait(const sigset_t& signals, nanoseconds period) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period);
  const timespec timeout{seconds.count(), (period - seconds).count()};
  return std::max(0, sigtimedwait(&signals, nullptr, &timeout));
}

void Watcher::look() noexcept {
  Provenance provenance;
  if (ok(reader_.posterior(parameters_, provenance))) {
    status_.look(provenance, last_ns_);
    tell(provenance);
  }
  counts_.look(last_ns_);
  keeping_.look(last_ns_);
  look_at_log();
}

void Watcher::look_at_log() noexcept {
  const std::uint64_t dropped = log_.dropped();
  if (dropped == dropped_) return;
  LogLine line = log_.line(LogLevel::kWarning, "log_lines_dropped");
  log_.write(line.add("lines", dropped - std::exchange(dropped_, dropped)));
}

void Watcher::reload() noexcept {
  notifier_.reloading(clock_.now_ns());
  const int why = log_.reopen();
  LogLine line = log_.line(why == 0 ? LogLevel::kInfo : LogLevel::kError,
                           why == 0 ? "reloaded" : "log_not_reopened");
  if (why != 0) line.add("error", strerrordesc_np(why));
  log_.write(line);
  notifier_.ready();
}

void Watcher::tell(const Provenance& provenance) noexcept {
  std::array<char, 160> text;
  const auto end =
      fmt::format_to_n(text.data(), text.size(), "{}: {} rows, {} observe and {} query connections",
                       to_string(provenance.status), watched_.engine.head(),
                       watched_.server.observe_sessions(), watched_.server.query_sessions());
  notifier_.status({text.data(), std::min(end.size, text.size())});
}

void Watcher::finish() noexcept {
  last_ns_ = clock_.now_ns();
  look();
  counts_.finish();
  const auto& io = watched_.server.counters();
  LogLine line = log_.line(LogLevel::kInfo, "stopped");
  line.add("rows", watched_.engine.head()).add("refused", io.get(IoCounter::kRowsRefused));
  line.add("duplicate", io.get(IoCounter::kRowsDuplicate));
  line.add("questions", io.get(IoCounter::kQueries));
  line.add("connections", io.get(IoCounter::kConnectionsAccepted));
  line.add("uptime_s", (last_ns_ - started_ns_) / 1'000'000'000);
  log_.write(line.add("peak_resident_bytes", peak_resident_bytes()));
}

}  // namespace windhover
