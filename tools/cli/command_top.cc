#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "windhover/tools/cli/commands.h"
#include "windhover/tools/cli/server_options.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/top_frame.h"
#include "windhover/tools/error.h"
#include "windhover/tools/program/manual.h"

namespace windhover {
namespace {

volatile std::sig_atomic_t top_is_to_end = 0;

struct TopOptions {
  ServerOptions server;
  double every = 1;
  bool once = false;
};

// The alternate screen of the terminal, without cursor and echo, as long as this object lives.
class Screen {
 public:
  Screen() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      std::signal(signal, [](int) { top_is_to_end = 1; });
    }
    raw_ = tcgetattr(STDIN_FILENO, &before_) == 0;
    if (raw_) {
      termios keys = before_;
      keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    fmt::print("\x1b[?1049h\x1b[?25l");
  }
  ~Screen() {
    fmt::print("\x1b[?25h\x1b[?1049l");
    std::fflush(stdout);
    if (raw_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static TopSize size() {
    winsize found{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0) return {};
    return {found.ws_col, found.ws_row};
  }
  // Draws over the previous frame, because clearing it first would flicker.
  static void show(const std::vector<std::string>& lines) {
    std::string text = "\x1b[H";
    for (std::size_t i = 0; i < lines.size(); ++i) {
      text += (i > 0 ? "\r\n" : "") + lines[i] + "\x1b[K";
    }
    fmt::print("{}\x1b[J", text);
    std::fflush(stdout);
  }
  // Returns false when a signal or the key q ends the command. Other keys do not shorten the wait.
  static bool wait(std::chrono::milliseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    pollfd key{STDIN_FILENO, POLLIN, 0};
    while (top_is_to_end == 0) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0) return true;
      if (::poll(&key, 1, static_cast<int>(left.count())) <= 0) continue;
      char pressed = 0;
      if (::read(STDIN_FILENO, &pressed, 1) <= 0) key.fd = -1;  // poll() ignores it from now on
      if (pressed == 'q') return false;
    }
    return false;
  }

 private:
  bool raw_ = false;
  termios before_{};
};

// Asks the server how it stands, and connects again where the connection broke.
class Looker {
 public:
  explicit Looker(const ServerOptions& server)
      : address_(server.address), options_(client_options_of(server)) {}

  TopLook look() {
    TopLook look;
    look.address = address_;
    Status status = Status::kOk;
    if (!open_) status = client_.connect(address_, options_);
    if (status == Status::kInvalidArgument) throw UserError(client_.error_text());
    if (ok(status)) status = client_.status(look.status);
    if (ok(status)) status = client_.models(look.models);
    open_ = ok(status);
    look.model = client_.welcome().model();
    if (!open_) {
      look.error = fmt::format("{} ({})", client_.error_text(), to_string(status));
      client_.close();
    }
    return look;
  }

 private:
  std::string address_;
  ClientOptions options_;
  Client client_;
  bool open_ = false;
};

void print_once(const TopOptions& o, std::chrono::milliseconds every) {
  Looker looker(o.server);
  const TopLook before = looker.look();
  if (!before.error.empty()) throw RunError(before.error);
  std::this_thread::sleep_for(every);
  const TopLook now = looker.look();
  if (!now.error.empty()) throw RunError(now.error);
  for (const std::string& line : top_frame(before, now, {200, 200})) fmt::print("{}\n", line);
}

void run_top(const TopOptions& o) {
  const auto every = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * o.every));
  if (o.once || isatty(STDOUT_FILENO) == 0) return print_once(o, every);
  Looker looker(o.server);
  std::optional<TopLook> before;
  TopLook now = looker.look();
  const Screen screen;
  do {
    Screen::show(top_frame(before, now, Screen::size()));
    before = std::move(now);
    if (!Screen::wait(every)) return;
    now = looker.look();
  } while (true);
}

}  // namespace

void add_top(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("top", "Show a server's rates, latencies and posterior live; q ends it");
  auto options = std::make_shared<TopOptions>();
  add_server_options(*command, options->server);
  command->add_option("--every", options->every, "seconds from one look to the next")
      ->check(CLI::Range(0.1, 3600.0));
  command->add_flag("--once", options->once, "Print what is between two looks, and end");
  add_examples(*command, {{"windhover top --to 127.0.0.1:7172",
                           "rates, latencies and posterior, live in a terminal; q ends it"},
                          {"windhover top --to 127.0.0.1:7172 --once --every 0.5",
                           "one frame, of what is between two looks half a second apart"}});
  command->callback([options] { run_top(*options); });
}

}  // namespace windhover
