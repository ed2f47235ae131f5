// gnuplot, which draws the plots: texts in its scripts, and how it is run.
#ifndef WINDHOVER_TOOLS_GNUPLOT_H_
#define WINDHOVER_TOOLS_GNUPLOT_H_

#include <string>

namespace windhover {

// The text in single quotes, as gnuplot reads it; it may have several lines. Other control
// characters become blanks.
std::string gnuplot_text(const std::string& text);
// The same for the label of a tic, where gnuplot takes % for the start of a format.
std::string gnuplot_tic(const std::string& text);

// RunError naming the Debian package when gnuplot is not there.
void require_gnuplot();

// Runs a script in the current directory and returns the exit code of gnuplot. RunError as above.
// The caller ignores SIGPIPE.
int run_gnuplot(const std::string& script);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_GNUPLOT_H_
