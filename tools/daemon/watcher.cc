#include "windhover/tools/daemon/watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

#include "windhover/platform/memory.h"
#include "windhover/tools/daemon/daemon_config.h"

namespace windhover {
namespace {

using std::chrono::nanoseconds;
constexpr nanoseconds kWatchPeriod = std::chrono::seconds(1);

}  // namespace

Watcher::Watcher(const Watched& watched, const WatchdogOptions& options, DaemonLog& log,
                 Notifier& notifier)
    : server_(watched.server),
      learners_(watched.learners),
      options_(options),
      log_(log),
      notifier_(notifier),
      started_ns_(clock_.now_ns()),
      last_ns_(started_ns_),
      folder_(watched.folder),
      counts_(watched.server.counters(), log),
      certificate_(kOwnCertificate, log),
      client_ca_(kClientCa, log),
      stalls_(log, options.timeout, beats()) {
  const auto* const http = watched.server.http_counters();
  if (http != nullptr) http_counts_.emplace(*http, log);
  for (std::size_t i = 0; i < watched.engines.size(); ++i) add(*watched.engines[i], i);
}

void Watcher::add(Engine& engine, std::size_t place) {
  const std::string_view name = server_.models().name(place);  // lives as long as the model
  const bool keeps = !folder_.empty() && !engine.config().follows;
  const std::lock_guard lock(changing_);
  models_.push_back(
      {engine, place, value_or_refuse(engine.watcher()), StatusReport(name, log_),
       CountReport(name, engine.counters(), log_),
       KeepingReport(name, server_.kept().log(place), server_.kept().checkpoints(place), log_),
       AnswerChoice(keeps ? folder_ + "/" + std::string(name) : ""), PosteriorStatus::kWarmingUp,
       server_.models().answered_by(place)});
  parameters_.resize(std::max<std::size_t>(parameters_.size(), engine.dimension()));
}

void Watcher::remove(std::size_t place) noexcept {
  const std::lock_guard lock(changing_);
  models_.remove_if([&](WatchedModel& model) {
    if (model.place != place) return false;
    model.counts.finish();
    model.keeping.finish();
    return true;
  });
}

Stalls::Beats Watcher::beats() const noexcept {
  return {learners_.beat_ns(), server_.observe().beat_ns, server_.query().beat_ns,
          server_.http().beat_ns};
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
    // Bounded, because a process that was stopped as a whole has not stood still.
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

// Returns the signal; 0: none came.
int Watcher::wait(const sigset_t& signals, nanoseconds period) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period);
  const timespec timeout{seconds.count(), (period - seconds).count()};
  return std::max(0, sigtimedwait(&signals, nullptr, &timeout));
}

void Watcher::look() noexcept {
  const std::lock_guard lock(changing_);
  for (WatchedModel& model : models_) {
    look_at_answers(model);
    Provenance provenance;
    const auto scratch = std::span(parameters_).first(model.engine.dimension());
    if (ok(model.reader.posterior(scratch, provenance))) {
      model.status.look(provenance, last_ns_);
      model.last = provenance.status;
    }
    model.counts.look(last_ns_);
    model.keeping.look(last_ns_);
  }
  tell();
  counts_.look(last_ns_);
  if (http_counts_) http_counts_->look(last_ns_);
  const TlsDates dates = server_.certificates();
  certificate_.look(dates.own, clock_.wall_ns());
  client_ca_.look_at_authorities(dates, clock_.wall_ns());
  look_at_log();
}

// Logs that an operator had another model answer, and keeps it for the next start.
void Watcher::look_at_answers(WatchedModel& model) noexcept {
  const std::size_t place = model.place;
  const std::size_t by = server_.models().answered_by(place);
  if (by == model.answered_by) return;
  model.answered_by = by;
  const int why = model.choice.keep(server_.models().name(by));
  LogLine line = log_.line(why == 0 ? LogLevel::kInfo : LogLevel::kError, "answered_by");
  line.add("model", server_.models().name(place)).add("by", server_.models().name(by));
  if (why != 0) line.add("not_kept", strerrordesc_np(why));
  log_.write(line);
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
  take_up_identities();
  notifier_.ready();
}

// Loads identities and certificates anew; files that are wrong change nothing.
void Watcher::take_up_identities() noexcept {
  const Result<std::size_t> loaded = server_.reload();
  LogLine line = log_.line(loaded.ok() ? LogLevel::kInfo : LogLevel::kError,
                           loaded.ok() ? "identities_reloaded" : "identities_not_reloaded");
  if (!loaded.ok()) {
    log_.write(line.add("error", loaded.error().sentence));
  } else if (server_.asks_who()) {
    log_.write(line.add("identities", loaded.value()));
  }
}

std::uint64_t Watcher::rows() const noexcept {
  std::uint64_t rows = 0;
  for (const WatchedModel& model : models_) {
    if (!model.engine.config().follows) rows += model.engine.head();
  }
  return rows;
}

void Watcher::tell() noexcept {
  const auto good = std::ranges::count(models_, PosteriorStatus::kOk, &WatchedModel::last);
  std::array<char, 200> text;
  char* end = text.data();
  for (const WatchedModel& model : models_) {
    const Status obstacle = server_.kept().log(model.place).obstacle();
    if (ok(obstacle)) continue;
    end = fmt::format_to_n(end, 50, "senders wait ({}); ", to_string(obstacle)).out;
    break;
  }
  if (models_.size() == 1) {
    end = fmt::format_to_n(end, 40, "{}", to_string(models_.front().last)).out;
  } else {
    end = fmt::format_to_n(end, 40, "{} of {} models ok", good, models_.size()).out;
  }
  end = fmt::format_to_n(end, 100, ": {} rows, {} observe and {} query connections", rows(),
                         server_.observe().sessions, server_.query().sessions)
            .out;
  notifier_.status({text.data(), end});
}

void Watcher::finish() noexcept {
  last_ns_ = clock_.now_ns();
  look();
  for (WatchedModel& model : models_) {
    model.counts.finish();
    model.keeping.finish();
  }
  counts_.finish();
  if (http_counts_) http_counts_->finish();
  const auto& io = server_.counters();
  LogLine line = log_.line(LogLevel::kInfo, "stopped");
  line.add("rows", rows()).add("refused", io.get(IoCounter::kRowsRefused));
  line.add("duplicate", io.get(IoCounter::kRowsDuplicate));
  line.add("questions", io.get(IoCounter::kQueries));
  line.add("connections", io.get(IoCounter::kConnectionsAccepted));
  line.add("uptime_s", (last_ns_ - started_ns_) / 1'000'000'000);
  log_.write(line.add("peak_resident_bytes", peak_resident_bytes()));
}

}  // namespace windhover
