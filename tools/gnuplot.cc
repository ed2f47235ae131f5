#include "windhover/tools/gnuplot.h"

#include <sys/wait.h>

#include <cstdio>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < ' '; }

}  // namespace

// Nothing but the quote itself means anything between single quotes, which hold one line only.
std::string gnuplot_text(const std::string& text) {
  const bool one_line = text.find('\n') == std::string::npos;
  const char quote = one_line ? '\'' : '"';
  std::string out(1, quote);
  for (const char c : text) {
    if (one_line) {
      if (c == '\'') out += '\'';
    } else if (c == '"' || c == '\\' || c == '`') {
      out += '\\';
    }
    out += c == '\n' ? "\\n" : std::string(1, is_control(c) ? ' ' : c);
  }
  return out + quote;
}

std::string gnuplot_tic(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '%' ? "%%" : std::string(1, c);
  return gnuplot_text(out);
}

void require_gnuplot() { (void)run_gnuplot(""); }

int run_gnuplot(const std::string& script) {
  std::fflush(stdout);  // what was printed comes before what gnuplot prints
  std::FILE* gnuplot = popen("gnuplot", "w");
  if (gnuplot == nullptr) throw RunError("gnuplot, which draws the plots, cannot be started");
  std::fputs(script.c_str(), gnuplot);
  const int outcome = pclose(gnuplot);
  const int code = WIFEXITED(outcome) ? WEXITSTATUS(outcome) : -1;
  constexpr int kNoSuchProgram = 127;  // the shell's exit code
  if (code == kNoSuchProgram) {
    throw RunError("gnuplot, which draws the plots, is not installed: Debian package gnuplot-nox");
  }
  return code;
}

}  // namespace windhover
