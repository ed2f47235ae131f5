#include "windhover/tools/client/durable_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "windhover/platform/status.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/kept/kept_text.h"

namespace windhover {
namespace {

std::string mebibytes(std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string age_text(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t seconds = ns / kSecond;
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 120 * 60) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h", seconds / 3600);
}

std::string rows_text(const v1::Durable& d, std::uint64_t head) {
  if (d.log_capacity_bytes() == 0) return "checkpoints alone, no log";
  const std::uint64_t durable = d.durable_through();
  if (durable >= head) return fmt::format("all {} rows", grouped(head));
  return fmt::format("{} of {} rows", grouped(durable), grouped(head));
}

std::string checkpoint_text(const v1::Durable& d) {
  if (d.checkpoint_age_ns() >= 0) {
    return fmt::format("newest checkpoint {} old, at row {}", age_text(d.checkpoint_age_ns()),
                       grouped(d.checkpoint_head()));
  }
  if (d.checkpoint_head() == 0) return "no checkpoint with rows yet";
  return fmt::format("newest checkpoint from before the start, at row {}",
                     grouped(d.checkpoint_head()));
}

const char* remedy(int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  return full ? "make room on its disk" : "mend the data folder or its disk";
}

}  // namespace

std::string reason_name(v1::Reason reason) {
  if (reason >= 0 && reason < static_cast<int>(Status::kCount)) {
    return to_string(static_cast<Status>(reason));
  }
  return fmt::format("reason {}", static_cast<int>(reason));
}

std::string failure_text(v1::Reason status, int error_number) {
  if (error_number <= 0) return reason_name(status);
  return fmt::format("{}: {}", reason_name(status), std::strerror(error_number));
}

nlohmann::ordered_json durable_json(const v1::Durable& d) {
  return {{"keeps_folder", d.keeps_folder()},
          {"durability", d.durability() == v1::DURABILITY_LOGGED ? "logged" : "memory"},
          {"instance_id", id_text(d.instance_id())},
          {"durable_through", d.durable_through()},
          {"recovering_through", d.recovering_through()},
          {"log_used_bytes", d.log_used_bytes()},
          {"log_capacity_bytes", d.log_capacity_bytes()},
          {"commits", d.commits()},
          {"log_failures", d.log_failures()},
          {"log_status", reason_name(d.log_status())},
          {"log_errno", d.log_errno()},
          {"checkpoints_taken", d.checkpoints_taken()},
          {"checkpoint_failures", d.checkpoint_failures()},
          {"checkpoint_head", d.checkpoint_head()},
          {"checkpoint_age_ns", d.checkpoint_age_ns()},
          {"checkpoint_lasted_ns", d.checkpoint_lasted_ns()},
          {"checkpoint_status", reason_name(d.checkpoint_status())},
          {"checkpoint_errno", d.checkpoint_errno()},
          {"producers_known", d.producers_known()},
          {"log_seal_failures", d.log_seal_failures()}};
}

std::string waiting_text(const v1::Durable& d) {
  if (d.log_status() == v1::REASON_OK) return "";
  if (d.log_status() != v1::REASON_LOG_FULL && d.log_errno() == ENOENT) {
    return "senders wait: files of the log have been removed under the server, which cannot bring "
           "them back; stop it, restore a backup or begin anew, and start it again";
  }
  if (d.log_status() != v1::REASON_LOG_FULL) {
    return fmt::format(
        "senders wait: the log cannot be written: {}; {}, it is tried again all the "
        "time, and nothing is lost",
        failure_text(d.log_status(), d.log_errno()), remedy(d.log_errno()));
  }
  if (d.checkpoint_status() != v1::REASON_OK) {
    return fmt::format(
        "senders wait: the log is full until a checkpoint lets old rows go, and checkpoints fail: "
        "{}; {}, they are tried again each second, and nothing is lost",
        failure_text(d.checkpoint_status(), d.checkpoint_errno()), remedy(d.checkpoint_errno()));
  }
  return "senders wait: the log is full until the next checkpoint lets old rows go; where this "
         "comes often, make it larger: windhover restore --log-bytes";
}

std::vector<std::string> durable_lines(const v1::Durable& d, std::uint64_t head) {
  if (!d.keeps_folder()) return {"on disk: nothing; a restart starts cold"};
  std::string line = "on disk: " + rows_text(d, head);
  if (d.log_capacity_bytes() > 0) {
    line += fmt::format("; log {} of {}", mebibytes(d.log_used_bytes()),
                        mebibytes(d.log_capacity_bytes()));
  }
  std::vector<std::string> lines = {line + "; " + checkpoint_text(d)};
  if (d.recovering_through() > 0) {
    lines.push_back(fmt::format("coming back: rows up to {} are still on their way into answers",
                                grouped(d.recovering_through())));
  }
  if (d.log_status() == v1::REASON_LOG_FULL) {
    lines.push_back("the log is full until a checkpoint lets old rows go; senders wait");
  } else if (d.log_status() != v1::REASON_OK) {
    lines.push_back(fmt::format("the log cannot go on: {}; senders wait; {} commits have failed",
                                failure_text(d.log_status(), d.log_errno()),
                                grouped(d.log_failures())));
  }
  if (d.checkpoint_status() != v1::REASON_OK) {
    lines.push_back(fmt::format("the last checkpoint failed: {}; {} have failed",
                                failure_text(d.checkpoint_status(), d.checkpoint_errno()),
                                grouped(d.checkpoint_failures())));
  }
  return lines;
}

}  // namespace windhover
