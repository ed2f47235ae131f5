#include "windhover/tools/gnuplot.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/cli/interval_plot.h"
#include "windhover/tools/error.h"

namespace windhover::gnuplot_test {
namespace {

TEST(GnuplotText, IsTheTextItselfInWhicheverQuotes) {
  EXPECT_EQ(gnuplot_text("it's 50 % of \\n `x`"), "'it''s 50 % of \\n `x`'");
  EXPECT_EQ(gnuplot_text("a \"b\"\nof `c` \\ d"), "\"a \\\"b\\\"\\nof \\`c\\` \\\\ d\"");
  EXPECT_EQ(gnuplot_text("a\tb\x01"), "'a b '");
}

TEST(GnuplotTic, KeepsAPercentSign) {
  EXPECT_EQ(gnuplot_tic("share=50%"), "'share=50%%'");
  EXPECT_EQ(gnuplot_tic("50 %\nof it"), "\"50 %%\\nof it\"");
}

TEST(IntervalScript, NamesMayHoldWhatGnuplotReadsInItsOwnWay) {
  const IntervalPlot plot{"100 %", "y", {{"a's 5%", 1, 0, 2}}};
  const std::string script = interval_script(plot, "", 80);
  EXPECT_TRUE(says(script, "set title '100 %'\n"));
  EXPECT_TRUE(says(script, "set ytics ('a''s 5%%' 1)\n"));
}

// A frame of less height has no line for one of them.
TEST(IntervalScript, OneIntervalHasALineOfItsOwnInTheTerminal) {
  const std::string script = interval_script({"a", "y", {{"Köln", 1, 0, 2}}}, "", 80);
  EXPECT_TRUE(says(script, "set terminal dumb noenhanced size 80, 9\n"));
  EXPECT_TRUE(says(script, "set encoding utf8\n"));
}

// The numbers of an axis, as the terminal shows them.
std::vector<double> drawn_tics(const IntervalPlot& plot, int columns) {
  const std::string text = path_of("terminal.txt");
  std::string script = interval_script(plot, "", columns);
  script.insert(script.find("set title"), "set output '" + text + "'\n");
  EXPECT_EQ(run_gnuplot(script), 0);
  std::ifstream file(text);
  std::string last;
  std::string label;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \f\r") == std::string::npos) continue;
    last = std::exchange(label, line);  // below the tics stands what they are of
  }
  std::istringstream words(last);
  return {std::istream_iterator<double>(words), {}};
}

// Ten tics of six digits ran into one another: "8000 10000 12000 140000".
TEST(IntervalScript, NoTicOfTheTerminalRunsIntoTheNext) {
  if (std::system("command -v gnuplot >/dev/null") != 0) GTEST_SKIP() << "gnuplot is not installed";
  const std::string name = "district=somewhere";
  for (const int columns : {40, 80, 133}) {
    for (const double scale : {1e-300, 1.3e-7, 0.02, 1.0, 4'711.0, 2e4, 3e8, 1e300}) {
      const std::vector<double> tics =
          drawn_tics({"a", "y", {{name, 2, -3.1, 6.9}, {name, 1, 0, 2}}}, columns);
      const std::vector<double> scaled = drawn_tics(
          {"a", "y", {{name, 2 * scale, -3.1 * scale, 6.9 * scale}, {name, scale, 0, 2 * scale}}},
          columns);
      ASSERT_GE(tics.size(), 2U) << columns;
      ASSERT_GE(scaled.size(), 2U) << columns << " " << scale;
      for (std::size_t i = 2; i < scaled.size(); ++i) {
        const double step = scaled[1] - scaled[0];
        EXPECT_NEAR(scaled[i] - scaled[i - 1], step, 1e-3 * step) << columns << " " << scale;
      }
    }
  }
}

TEST(IntervalScript, OneNumberAloneHasTicsToo) {
  if (std::system("command -v gnuplot >/dev/null") != 0) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_FALSE(drawn_tics({"a", "y", {{"b", 1, 1, 1}}}, 80).empty());
}

TEST(DrawIntervals, AFileThatCannotBeWrittenIsToldBeforeGnuplotDraws) {
  const std::string path = path_of("nothing_there/plot.svg");
  try {
    draw_intervals({"a", "y", {{"b", 1, 0, 2}}}, path);
    ADD_FAILURE();
  } catch (const RunError& error) {
    EXPECT_EQ(error.what(), path + " cannot be written: No such file or directory");
  }
}

TEST(DrawIntervals, LeavesNothingBehindWhereThereIsNoGnuplot) {
  const std::string path = path_of("no_gnuplot.svg");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", "", 1);
  void (*const handler)(int) = std::signal(SIGPIPE, SIG_IGN);  // as the programs have it
  EXPECT_THROW(draw_intervals({"a", "y", {{"b", 1, 0, 2}}}, path), RunError);
  std::signal(SIGPIPE, handler);
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

// Needs gnuplot.
TEST(RunGnuplot, DrawsTicsWithAPercentSign) {
  if (std::system("command -v gnuplot >/dev/null") != 0) GTEST_SKIP() << "gnuplot is not installed";
  const std::string svg = path_of("percent.svg");
  const IntervalPlot plot{"a", "y", {{"50 %s", 1, 0, 2}, {"5%", 2, 1, 3}}};
  EXPECT_EQ(run_gnuplot(interval_script(plot, svg, 0)), 0);
  std::ifstream file(svg);
  const std::string drawn(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(says(drawn, ">50 %s<")) << drawn;
  EXPECT_TRUE(says(drawn, ">5%<"));
  EXPECT_NE(run_gnuplot("plot nothing_of_that_name\n"), 0);
}

}  // namespace
}  // namespace windhover::gnuplot_test
