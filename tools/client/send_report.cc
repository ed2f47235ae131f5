#include <fmt/format.h>

#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/send.h"
#include "windhover/tools/data/skipped_rows.h"

namespace windhover {

bool SendReport::adds_up() const {
  return totals.sent == totals.accepted + totals.refused + totals.duplicate + totals.unknown;
}

std::string SendReport::loss_text() const {
  std::string text;
  if (totals.unknown > 0) {
    text = fmt::format(
        "{} rows may be lost: they were on their way when the connection broke, and the server has "
        "forgotten where they began",
        totals.unknown);
  }
  if (totals.lost > 0) {
    text += fmt::format("{}{} accepted rows may be lost: the server was started anew without them",
                        text.empty() ? "" : "; ", totals.lost);
  }
  return text;
}

std::string SendReport::skipped_text(const std::string& path) const {
  if (unreadable > 0) {
    return unreadable_text(unreadable, path, "were not sent");
  }
  if (skipped > 0 && totals.sent == 0 && already == 0) {
    return fmt::format("every row of {} lacks a value and was skipped", path);
  }
  return "";
}

std::string SendReport::closing_line() const {
  return fmt::format(
      "sent {} = accepted {} + refused {} + duplicate {}{}{}; {} rows of the file skipped{}; "
      "{}{}{}{}{:.2f} s, {:.0f} rows/s; acknowledged after p50 {}, p99 {}, longest {}",
      totals.sent, totals.accepted, totals.refused, totals.duplicate,
      totals.unknown > 0 ? fmt::format(" + unknown {}", totals.unknown) : "",
      adds_up() ? "" : " (DOES NOT ADD UP)", skipped,
      unreadable > 0 ? fmt::format(", {} of them unreadable", unreadable) : "",
      already > 0 ? fmt::format("{} were there already; ", already) : "",
      totals.restored > 0
          ? fmt::format("{} sent again to a server that had lost them; ", totals.restored)
          : "",
      durable ? fmt::format("{} on the server's disk; ", totals.durable) : "",
      reconnections > 0 ? fmt::format("connected anew {} times; ", reconnections) : "", seconds,
      seconds > 0 ? static_cast<double>(totals.sent) / seconds : 0.0,
      duration_text(static_cast<double>(lag_p50_ns)),
      duration_text(static_cast<double>(lag_p99_ns)),
      duration_text(static_cast<double>(lag_max_ns)));
}

nlohmann::ordered_json SendReport::to_json() const {
  nlohmann::ordered_json out = {{"sent", totals.sent},
                                {"accepted", totals.accepted},
                                {"refused", totals.refused},
                                {"duplicate", totals.duplicate},
                                {"unknown", totals.unknown},
                                {"durability", durable ? "logged" : "memory"},
                                {"durable", totals.durable},
                                {"restored", totals.restored},
                                {"lost", totals.lost},
                                {"adds_up", adds_up()},
                                {"skipped", skipped},
                                {"unreadable", unreadable},
                                {"already", already},
                                {"read_again", read_again},
                                {"frames", totals.frames_sent},
                                {"reconnections", reconnections},
                                {"seconds", seconds},
                                {"rows_per_second", static_cast<double>(totals.sent) / seconds},
                                {"lag_p50_ns", lag_p50_ns},
                                {"lag_p99_ns", lag_p99_ns},
                                {"lag_max_ns", lag_max_ns},
                                {"first_refusals", nlohmann::ordered_json::array()}};
  for (const ClientRefusedRow& row : refused) {
    out["first_refusals"].push_back({{"row", row.row}, {"reason", to_string(row.reason)}});
  }
  if (score) out["prequential"] = score->to_json();
  if (!hashed.empty()) out["hashed"] = hashed;
  return out;
}

}  // namespace windhover
