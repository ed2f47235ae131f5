#include "windhover/tools/cli/watch_status.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/durable_text.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using std::chrono::steady_clock;

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

struct Look {
  bool there = false;
  steady_clock::time_point when{};
  std::uint64_t head = 0;
};

}  // namespace

std::string watch_line(const Provenance& provenance, bool paused, v1::Reason log,
                       std::uint64_t head, double rows_a_second) {
  std::string status = to_string(provenance.status);
  if (provenance.reason != StatusReason::kNone) {
    status += fmt::format(" ({})", to_string(provenance.reason));
  }
  if (paused) status += ", paused";
  if (log != v1::REASON_OK) status += fmt::format(", senders wait ({})", reason_name(log));
  const std::string rate = rows_a_second < 0 ? "" : fmt::format(" (+{:.0f}/s)", rows_a_second);
  return fmt::format("{:<26} rows {}{}, worth {}, {:.0f} effective draws", status, head, rate,
                     provenance.n_eff, provenance.ess_bulk);
}

void watch_status(const ServerOptions& server, double seconds, std::uint64_t times) {
  const ClientOptions options = client_options_of(server);
  const auto pause = std::chrono::duration<double>(seconds);
  Client client;
  Look before;
  for (std::uint64_t i = 0; times == 0 || i < times; ++i) {
    if (i > 0) std::this_thread::sleep_for(pause);
    v1::StatusResult result;
    Status status = Status::kOk;
    if (!client.connected()) status = client.connect(server.address, options);
    if (status == Status::kInvalidArgument) throw UserError(client.error_text());
    if (ok(status)) status = client.status(result);
    if (!ok(status)) {
      fmt::print("{}  {}\n", time_of_day(), client.error_text());
      client.close();
      before = {};
    } else {
      const Look now{true, steady_clock::now(), result.head()};
      double rate = -1;
      if (before.there && now.head >= before.head) {
        const std::chrono::duration<double> passed = now.when - before.when;
        rate = static_cast<double>(now.head - before.head) / passed.count();
      }
      fmt::print("{}  {}\n", time_of_day(),
                 watch_line(provenance_of(result.provenance()), is_paused(client),
                            result.durable().log_status(), now.head, rate));
      before = now;
    }
    if (std::fflush(stdout) != 0) throw RunError("the lines cannot be written");
  }
}

}  // namespace windhover
