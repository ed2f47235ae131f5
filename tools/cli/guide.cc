#include "windhover/tools/cli/guide.h"

namespace windhover {

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

}  // namespace windhover
