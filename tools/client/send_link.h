// The connection over which a file is sent.
#ifndef WINDHOVER_TOOLS_CLIENT_SEND_LINK_H_
#define WINDHOVER_TOOLS_CLIENT_SEND_LINK_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "windhover/io/client.h"
#include "windhover/tools/client/send.h"
#include "windhover/tools/client/send_place.h"

namespace windhover {

// Connects again when the connection breaks, and notes that. Invariant: the server has, or the
// client keeps, every row that was handed to the client, unless reads_again() says that the file is
// to be read again.
class SendLink {
 public:
  // Errors as of check_options() and connect_at_place(). Keeps a reference to the options.
  explicit SendLink(const SendOptions& options);

  Client& client() { return client_; }
  const Client& client() const { return client_; }
  const SendPlace& place() const { return place_; }
  std::uint64_t reconnections() const { return reconnections_; }

  // The server lacks rows that the client no longer keeps: the file is to be read from its start,
  // and rows before place().from are to be skipped.
  bool reads_again() const { return again_; }
  void begin_again() { again_ = false; }

  // Does one action over the connection. When that breaks, connects again, and the client sends
  // again what was not acknowledged; the action itself is not repeated. A server that takes no rows
  // and says why is waited for as long as it says so. RunError when it stays away.
  void carry_through(const auto& action) {
    const Status status = action(client_);
    if (!ok(status)) mend(status);
  }
  // Throws RunError with the number of rows that are not acknowledged.
  [[noreturn]] void give_up(const std::string& why) const;
  // Tells the user something at once.
  void note(const std::string& text) const {
    if (options_.on_note) options_.on_note(text);
  }

 private:
  void mend(Status broken);
  bool wait_while_held_up();
  std::string why_held_up() const;
  void begin_trying();
  void connect_again();
  void make_good(const MissingRows& missing);
  void note_restart(const ObserveTotals& before) const;

  const SendOptions& options_;
  Client client_;
  SendPlace place_;
  std::chrono::steady_clock::time_point try_until_;  // for a connection that breaks repeatedly
  std::uint64_t reconnections_ = 0;
  bool again_ = false;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_SEND_LINK_H_
