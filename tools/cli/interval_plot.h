// Numbers with their intervals, drawn by gnuplot: an SVG, or characters in the terminal.
#ifndef WINDHOVER_TOOLS_CLI_INTERVAL_PLOT_H_
#define WINDHOVER_TOOLS_CLI_INTERVAL_PLOT_H_

#include <string>
#include <vector>

namespace windhover {

struct Interval {
  std::string name;
  double middle = 0;
  double lower = 0;
  double upper = 0;
};

// The axis label for coefficients in units of their columns.
inline constexpr const char* kEffectLabel =
    "effect of one sd of a number, or of a category, with its 90 % interval";
// The label where the categories of a field are compared with one another.
inline constexpr const char* kCategoryEffectLabel =
    "effect of one sd of a number, or of a category above the others of its field, with its 90 % "
    "interval";

struct IntervalPlot {
  std::string title;
  std::string label;  // what the numbers are
  std::vector<Interval> intervals;
};

// The script for gnuplot: a picture in the file `svg`, or where `svg` is empty a plot in the
// terminal, `columns` wide. Intervals that are not finite are left out.
std::string interval_script(const IntervalPlot& plot, const std::string& svg, int columns);

// UserError unless `path` is "-", the terminal, or ends in .svg. Commands call it before they work.
void check_plot_path(const std::string& path);

// Draws the plot at `path`; an existing file is replaced once the new one is whole. RunError:
// gnuplot is not installed, or fails, or the file cannot be written.
void draw_intervals(const IntervalPlot& plot, const std::string& path);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_INTERVAL_PLOT_H_
