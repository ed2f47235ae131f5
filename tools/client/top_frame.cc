#include "windhover/tools/client/top_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include "windhover/io/client.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/durable_text.h"

namespace windhover {
namespace {

using CounterList = google::protobuf::RepeatedPtrField<v1::Counter>;

// The counter of that name; 0 where there is none, as in a server of another version.
std::uint64_t counter_named(const CounterList& counters, std::string_view label) {
  for (const v1::Counter& counter : counters) {
    if (counter.label() == label) return counter.value();
  }
  return 0;
}

// A number in few characters: "950", "12.3k", "4.56M".
std::string short_number(double number) {
  constexpr std::array<const char*, 5> kUnits = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (number >= 999.5 && unit + 1 < kUnits.size()) {
    number /= 1000;
    ++unit;
  }
  const int digits = unit == 0 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", number, digits, kUnits[unit]);
}

// Rates of counters between two looks, by the server's clock.
class Rates {
 public:
  Rates(const std::optional<TopLook>& before, const TopLook& now) : now_(now.status) {
    if (!before || !before->error.empty()) return;
    const bool same = before->status.durable().instance_id() == now_.durable().instance_id();
    if (!same || before->status.uptime_ns() >= now_.uptime_ns()) return;
    before_ = &before->status;
    seconds_ = 1e-9 * static_cast<double>(now_.uptime_ns() - before->status.uptime_ns());
  }

  // "-" where the rate is not known.
  std::string a_second(std::string_view io_counter) const {
    if (before_ == nullptr) return "-";
    const std::uint64_t then = counter_named(before_->io_counters(), io_counter);
    const std::uint64_t now = total(io_counter);
    if (now < then) return "-";
    return short_number(static_cast<double>(now - then) / seconds_);
  }
  std::uint64_t total(std::string_view io_counter) const {
    return counter_named(now_.io_counters(), io_counter);
  }

 private:
  const v1::StatusResult& now_;
  const v1::StatusResult* before_ = nullptr;
  double seconds_ = 0;
};

// "student_t" for MODEL_KIND_STUDENT_T.
std::string model_text(v1::ModelKind model) {
  std::string name = v1::ModelKind_Name(model);
  constexpr std::string_view kPrefix = "MODEL_KIND_";
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string posterior_line(const std::string& model, std::size_t width, const Provenance& p) {
  return fmt::format(
      "{:<{}} {:<11} {:<15} {:>8} {:>8} {:>8} {:>7} {:>6.3g}", model, width, to_string(p.status),
      to_string(p.reason), short_number(static_cast<double>(p.n_seen)),
      short_number(static_cast<double>(p.n_eff)), duration_text(static_cast<double>(p.age_ns)),
      short_number(std::isfinite(p.ess_bulk) ? p.ess_bulk : 0), p.draws_per_observation);
}

void add_heading(std::vector<std::string>& lines, std::size_t width) {
  lines.push_back(fmt::format("{:<{}} {:<11} {:<15} {:>8} {:>8} {:>8} {:>7} {:>6}", "MODEL", width,
                              "STATUS", "REASON", "ROWS", "OF THEM", "AGE", "ESS", "R"));
}

void add_posterior(std::vector<std::string>& lines, const TopLook& now) {
  constexpr std::size_t kWidth = 9;
  const Provenance p = provenance_of(now.status.provenance());
  add_heading(lines, kWidth);
  lines.push_back(posterior_line(model_text(now.model), kWidth, p));
  if (const std::string why = reason_text(p); !why.empty()) lines.push_back("  " + why);
}

// Models that are not ok come first: there may be more of them than lines.
void add_posteriors(std::vector<std::string>& lines, std::vector<v1::ModelState> models) {
  std::size_t width = 9;
  for (const v1::ModelState& model : models) {
    width = std::max(width, std::min<std::size_t>(model.name().size(), 30));
  }
  std::ranges::stable_partition(models, [](const v1::ModelState& model) {
    return model.provenance().state() != v1::POSTERIOR_STATE_OK ||
           model.log_status() != v1::REASON_OK;
  });
  add_heading(lines, width);
  for (const v1::ModelState& model : models) {
    lines.push_back(posterior_line(model.name(), width, provenance_of(model.provenance())));
    if (model.log_status() != v1::REASON_OK) {
      lines.back() += "  senders wait: " + reason_name(model.log_status());
    }
    if (model.paused()) lines.back() += "  paused";
    if (model.answered_by() != model.name()) lines.back() += "  answered by " + model.answered_by();
  }
}

void add_rates(std::vector<std::string>& lines, const Rates& rates) {
  constexpr std::array<std::pair<const char*, const char*>, 12> kShown = {{
      {"rows accepted", "rows_accepted"},
      {"rows refused", "rows_refused"},
      {"rows duplicate", "rows_duplicate"},
      {"questions", "queries"},
      {"questions refused", "queries_refused"},
      {"connections", "connections_accepted"},
      {"connections refused", "connections_refused"},
      {"timeouts", "timeouts"},
      {"waits: window full", "window_full_waits"},
      {"waits: log behind", "log_behind_waits"},
      {"bytes received", "bytes_received"},
      {"bytes sent", "bytes_sent"},
  }};
  lines.push_back(fmt::format("{:<20} {:>8} {:>8}   {:<20} {:>8} {:>8}", "", "A SECOND", "TOTAL",
                              "", "A SECOND", "TOTAL"));
  constexpr std::size_t kHalf = kShown.size() / 2;
  for (std::size_t i = 0; i < kHalf; ++i) {
    const auto cell = [&](std::size_t at) {
      const auto& [name, counter] = kShown[at];
      return fmt::format("{:<20} {:>8} {:>8}", name, rates.a_second(counter),
                         short_number(static_cast<double>(rates.total(counter))));
    };
    lines.push_back(cell(i) + "   " + cell(i + kHalf));
  }
}

std::string latency_line(const char* name, const v1::HandlerLatency& l) {
  const auto text = [](std::int64_t ns) { return duration_text(static_cast<double>(ns)); };
  if (l.count() == 0) return fmt::format("{:<20} {:>9}", name, "-");
  return fmt::format("{:<20} {:>9} {:>9} {:>9} {:>9}", name, text(l.p50_ns()), text(l.p99_ns()),
                     text(l.p999_ns()), text(l.max_ns()));
}

// Cuts whole characters only: names may be UTF-8.
void cut(std::string& line, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(line[at]) & 0xc0) != 0x80;
    if (begins && characters++ == columns) {
      line.resize(at);
      return;
    }
  }
}

}  // namespace

std::vector<std::string> top_frame(const std::optional<TopLook>& before, const TopLook& now,
                                   const TopSize& size) {
  std::vector<std::string> lines;
  if (now.error.empty()) {
    const v1::StatusResult& s = now.status;
    lines.push_back(fmt::format("windhover top - {} - up {} - {} observe, {} query connections",
                                now.address, duration_text(static_cast<double>(s.uptime_ns())),
                                s.observe_sessions(), s.query_sessions()));
    lines.push_back(fmt::format("memory {} in its blocks, {} resident",
                                bytes_text(static_cast<double>(s.footprint_bytes())),
                                bytes_text(static_cast<double>(s.resident_bytes()))));
    for (const std::string& line : durable_lines(s.durable(), s.head())) lines.push_back(line);
    lines.emplace_back();
    const bool several = now.models.size() > 1;
    if (!several) {
      add_posterior(lines, now);
      lines.emplace_back();
    }
    add_rates(lines, Rates(before, now));
    lines.emplace_back();
    lines.push_back(fmt::format("{:<20} {:>9} {:>9} {:>9} {:>9}", "QUESTIONS", "P50", "P99",
                                "P99.9", "LONGEST"));
    lines.push_back(latency_line("at query", s.query_latency()));
    lines.push_back(latency_line("at observe", s.observe_latency()));
    if (several) {
      lines.emplace_back();
      add_posteriors(lines, now.models);
    }
  } else {
    lines.push_back(fmt::format("windhover top - {} - no answer", now.address));
    lines.push_back(now.error);
  }
  if (lines.size() > size.rows) lines.resize(size.rows);
  for (std::string& line : lines) {
    cut(line, size.columns);
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

}  // namespace windhover
