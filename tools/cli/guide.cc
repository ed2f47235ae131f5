#include "windhover/tools/cli/guide.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace windhover {
namespace {

// How many insertions, deletions, replacements and swaps of neighbours lead from one to the other.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({replaced, d[i - 1][j] + 1, d[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string guide_text() {
  return R"(Windhover keeps a calibrated posterior up to date over a stream of rows. The server,
windhoverd, learns; windhover sends it rows and asks it questions. To begin with:

  windhover schema FILE.csv --target COLUMN > S.toml
      what the columns of your file are, and which model that asks for
  windhoverd --model.schema S.toml --server.observe.tcp_port 7171 --server.query.tcp_port 7172
      the server, in a terminal of its own; Ctrl-C stops it
  windhover send FILE.csv --to 127.0.0.1:7171 --schema S.toml
      streams the rows of a file, or with - those of a pipe
  windhover predict --to 127.0.0.1:7172 --schema S.toml --set NAME=VALUE
      what it predicts there, and how sure it is; a --set each field
  windhover status --to 127.0.0.1:7172
      what it has seen, how well it keeps up, and what of it is on disk
  windhover backup FOLDER DEST
      a copy of what windhoverd --data.folder FOLDER keeps, while it runs
  windhover fit FILE.csv --target COLUMN
      the same on one file, without a server

windhover --help lists all commands, windhover COMMAND --help the options of one.
)";
}

std::string nearest_name(std::string_view word, std::span<const std::string> names) {
  std::string nearest;
  std::size_t fewest = 2 + word.size() / 4;  // so many are too many
  for (const std::string& name : names) {
    const std::size_t edits =
        !word.empty() && name.starts_with(word) ? 0 : edits_between(word, name);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = name;
  }
  return nearest;
}

std::string unknown_command_text(std::string_view word, std::span<const std::string> commands) {
  const std::string nearest = nearest_name(word, commands);
  return fmt::format(
      "there is no command \"{}\"{}; there are {}; `windhover --help` describes them", word,
      nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest),
      fmt::join(commands, ", "));
}

}  // namespace windhover
