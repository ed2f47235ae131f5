#include "windhover/tools/client/send_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/durable_text.h"
#include "windhover/tools/error.h"

namespace windhover {

SendLink::SendLink(const SendOptions& options) : options_(options) {
  check_options(options);
  place_ = connect_at_place(client_, options);
}

void SendLink::mend(Status status) {
  const bool broken = status == Status::kClosed || status == Status::kIoError ||
                      status == Status::kTimeout || status == Status::kUnavailable ||
                      status == Status::kWindowFull || status == Status::kLogFull;
  if (!broken) give_up(fmt::format("{} ({})", client_.error_text(), to_string(status)));
  if (status == Status::kTimeout && wait_while_held_up()) return;
  connect_again();
}

// Called when no answer has come within the time a server may take. A server that cannot take rows
// and says why will take them as soon as it can: the sender stays connected and waits. Returns
// false where the server gives no such reason, or the connection has broken.
bool SendLink::wait_while_held_up() {
  std::string told;
  while (client_.connected()) {
    const std::string why = why_held_up();
    // The first wait may end just as the reason goes away.
    if (why.empty() && told.empty()) return false;
    if (!why.empty() && why != told) note(why);
    told = why;
    const Status status = client_.wait_acknowledged();
    // A server that is restarted while it is mended gets the whole retry time.
    if (!told.empty()) begin_trying();
    if (status != Status::kTimeout) return ok(status);
  }
  return false;
}

// Asks the server over another connection why it takes no rows; empty: it does not answer, or
// nothing holds it up.
std::string SendLink::why_held_up() const {
  Client asker;
  v1::StatusResult status;
  ClientOptions options = options_.connection;
  options.resend = false;
  if (!ok(asker.connect(options_.address, options)) || !ok(asker.status(status))) return "";
  if (const std::string text = waiting_text(status.durable()); !text.empty()) return text;
  if (status.durable().recovering_through() > 0) {
    return "the server is coming back: it takes rows when it has learned what it had";
  }
  return is_paused(asker) ? "the model is paused: its rows wait until `windhover model resume`"
                          : "";
}

void SendLink::begin_trying() {
  try_until_ = std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(options_.retry_for));
}

void SendLink::connect_again() {
  note(fmt::format("{}; trying again for {:g} s", client_.error_text(), options_.retry_for));
  begin_trying();
  for (;;) {
    const ObserveTotals before = client_.totals();
    const Status status = client_.reconnect();
    if (!ok(status) && client_.missing().count == 0) {
      give_up(fmt::format("the connection is lost: {}", client_.error_text()));
    }
    ++reconnections_;
    if (!ok(status)) make_good(client_.missing());
    if (client_.totals().histories > before.histories) note_restart(before);
    if (again_) return;
    // Rows whose fate is unknown are counted as such.
    const Status acknowledged = client_.wait_acknowledged();
    if (ok(acknowledged)) return;
    if (acknowledged == Status::kTimeout ? wait_while_held_up() : client_.connected()) return;
    if (std::chrono::steady_clock::now() >= try_until_) {
      give_up(fmt::format("the connection is lost again and again: {}", client_.error_text()));
    }
  }
}

// Called when the server lacks rows that the client no longer keeps: goes back to them in the file,
// or leaves them out where there is none.
void SendLink::make_good(const MissingRows& missing) {
  std::error_code ignored;
  Status status = Status::kOk;
  if (std::filesystem::is_regular_file(options_.path, ignored)) {
    const std::uint64_t from = std::max(missing.first, place_.first);
    status = client_.go_back(from);
    if (ok(status)) {
      again_ = true;
      place_.from = from;
      return;
    }
  } else {
    status = client_.leave_missing();
  }
  const bool broken =
      status == Status::kClosed || status == Status::kIoError || status == Status::kTimeout;
  if (!ok(status) && !broken) give_up(client_.error_text());  // else the next attempt says more
}

void SendLink::give_up(const std::string& why) const {
  const ObserveTotals& t = client_.totals();
  throw RunError(fmt::format("{}; {} rows sent, {} of them not acknowledged: they may be lost{}{}",
                             why, t.sent, client_.outstanding_rows() + t.unknown,
                             t.lost > 0 ? fmt::format(", and so are {} that were", t.lost) : "",
                             options_.producer == 0 ? "" : "; send the file again with --resume"));
}

// Notes what has become of the rows that the server had accepted before its restart.
void SendLink::note_restart(const ObserveTotals& before) const {
  const ObserveTotals& t = client_.totals();
  std::string text =
      fmt::format("the server was started anew and holds {} rows", client_.welcome().head());
  if (t.lost > before.lost) {
    text += fmt::format("; {} of those it had accepted from here are lost", t.lost - before.lost);
  }
  if (again_) {
    text += fmt::format("; {} is read again from row {} on", options_.path,
                        place_.from - place_.first + 1);
  } else if (t.restored > before.restored) {
    text += fmt::format("; {} that it had accepted were sent again", t.restored - before.restored);
  }
  note(text);
}

}  // namespace windhover
