#include "windhover/tools/cli/interval_plot.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "windhover/tools/error.h"
#include "windhover/tools/gnuplot.h"

namespace windhover {
namespace {

int terminal_columns() {
  winsize found{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col < 40) return 80;
  return found.ws_col;
}

// The distance between tics of an axis in the terminal: 1, 2 or 5 times a power of ten. The labels
// of as many tics as gnuplot makes would overlap. Empty where all numbers are equal.
std::string terminal_tics(const std::vector<Interval>& shown, int columns) {
  constexpr int kColumnsOfTic = 11;  // "-1.25e+06" and a gap
  double lowest = HUGE_VAL;
  double highest = -HUGE_VAL;
  for (const Interval& i : shown) {
    lowest = std::min({lowest, i.lower, i.middle});
    highest = std::max({highest, i.upper, i.middle});
  }
  if (!(highest > lowest) || !std::isfinite(highest - lowest)) return "";
  double power = std::pow(10.0, std::floor(std::log10(highest - lowest)) - 1);
  if (!(power > 0)) return "";
  for (;; power *= 10) {
    for (const double step : {power, 2 * power, 5 * power}) {
      // The axis ends at tics, and beyond the numbers.
      const double tics = std::floor(highest / step) - std::ceil(lowest / step) + 2;
      if (tics <= 2 || tics * kColumnsOfTic <= columns) return fmt::format("set xtics {}\n", step);
    }
  }
}

}  // namespace

std::string interval_script(const IntervalPlot& plot, const std::string& svg, int columns) {
  std::vector<Interval> shown;
  std::ranges::copy_if(plot.intervals, std::back_inserter(shown), [](const Interval& i) {
    return std::isfinite(i.middle) && std::isfinite(i.lower) && std::isfinite(i.upper);
  });
  std::string data;
  std::string names;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::size_t at = shown.size() - i;  // the first on top
    data += fmt::format("{} {} {} {}\n", shown[i].middle, at, shown[i].lower, shown[i].upper);
    names += fmt::format("{}{} {}", i > 0 ? ", " : "", gnuplot_tic(shown[i].name), at);
  }
  const std::size_t rows = shown.size();
  std::string script = "set encoding utf8\n";
  if (svg.empty()) {
    std::size_t longest = 0;  // label beside the axis
    for (const Interval& i : shown) longest = std::max(longest, i.name.size());
    script += terminal_tics(shown, columns - static_cast<int>(longest));
  }
  script += svg.empty()
                ? fmt::format("set terminal dumb noenhanced size {}, {}\n", columns, 7 + 2 * rows)
                : fmt::format(
                      "set terminal svg noenhanced size 720, {} background 'white'\n"
                      "set output {}\n",
                      120 + 24 * rows, gnuplot_text(svg));
  script += fmt::format(
      "set title {}\nset xlabel {}\nset ytics ({})\nset yrange [0.5:{}.5]\nset offsets graph 0.03, "
      "graph 0.03, 0, 0\nunset key\nset grid x\n$data << EOD\n{}EOD\n"
      "plot $data using 1:2:3:4 with xerrorbars pointtype 7 linecolor rgb '#0072b2'\n",
      gnuplot_text(plot.title), gnuplot_text(plot.label), names, rows, data);
  return script;
}

void check_plot_path(const std::string& path) {
  if (path == "-" || std::filesystem::path(path).extension() == ".svg") return;
  throw UserError(fmt::format(
      "--plot \"{}\" is not allowed: FILE.svg, or - for the terminal, is expected", path));
}

void draw_intervals(const IntervalPlot& plot, const std::string& path) {
  const bool terminal = path == "-";
  const std::string unfinished = terminal ? "" : path + ".new";
  // gnuplot would draw into the terminal where it cannot write the file.
  if (!terminal && !std::ofstream(unfinished)) {
    throw RunError(fmt::format("{} cannot be written: {}", path,
                               std::error_code(errno, std::generic_category()).message()));
  }
  const std::string script = interval_script(plot, unfinished, terminal ? terminal_columns() : 0);
  std::error_code failed;
  const int outcome = [&] {
    try {
      return run_gnuplot(script);
    } catch (...) {
      if (!terminal) std::filesystem::remove(unfinished, failed);
      throw;
    }
  }();
  if (outcome == 0 && !terminal) std::filesystem::rename(unfinished, path, failed);
  if (outcome != 0 || failed) {
    std::filesystem::remove(unfinished, failed);
    throw RunError(fmt::format("{} cannot be drawn", terminal ? "the plot" : path));
  }
}

}  // namespace windhover
