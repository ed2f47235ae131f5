// Plots as data. gnuplot draws them from a script that a user can run again.
#ifndef WINDHOVER_TOOLS_REPRODUCE_PLOT_H_
#define WINDHOVER_TOOLS_REPRODUCE_PLOT_H_

#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace windhover::reproduce {

// A number with its Monte Carlo standard error.
struct Estimate {
  double value = 0;
  double mcse = 0;
};
inline Estimate operator*(double scale, const Estimate& e) {
  return {scale * e.value, scale * e.mcse};
}
// The difference of independent estimates.
inline Estimate operator-(const Estimate& a, const Estimate& b) {
  return {a.value - b.value, std::hypot(a.mcse, b.mcse)};
}

enum class Style { kLine, kDashes, kPoints, kLinePoints };

// Points that are not finite are left out. Colours are numbered from 0 and shared by panels: our
// figure and the paper's of the same quantity have one colour and different styles.
struct Series {
  std::string label;  // empty: not in the legend
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> error = {};  // standard errors of y, or empty; drawn as bars, or as a
                                   // band around a line without points
  Style style = Style::kLinePoints;
  int colour = 0;
  bool papers = false;                  // an open mark and dots, where points and lines are drawn
  bool open = false;                    // a large open mark, which hides nothing below it
  std::vector<double> x_error = {};     // for points only, beside `error`
  std::vector<std::string> names = {};  // one per point, drawn beside it; no quotes; or empty

  using Numbers = std::vector<double>;
  static Series line(std::string label, int colour, Numbers x = {}, Numbers y = {});
  static Series dashes(std::string label, int colour, Numbers x = {}, Numbers y = {});
  static Series points(std::string label, int colour, Numbers x = {}, Numbers y = {});
  // A line and points.
  static Series curve(std::string label, int colour, Numbers x = {}, Numbers y = {});
  Series& of_paper();
  void add(double x, double y);
  void add(double x, const Estimate& y);
  // Adds (x, value(x)) for each x of `at`.
  template <class Value>
  Series& sample(const Numbers& at, Value&& value) {
    for (const double each : at) add(each, value(each));
    return *this;
  }
};

struct Panel {
  std::string title;
  std::string x_label;  // with its unit
  std::string y_label;
  std::vector<Series> series = {};
  bool log_x = false;
  bool log_y = false;
  std::vector<std::string> categories = {};  // names of x = 0, 1, ... instead of numbers
  bool level_names = false;          // writes categories on several lines instead of slanted
  std::string legend = "top right";  // gnuplot's words, e.g. "bottom left" or "outside"
  std::vector<double> x_range = {};  // two numbers, or empty
  std::vector<double> y_range = {};
  std::vector<double> y_tics = {};  // in place of gnuplot's, where those are too few; or empty
  std::vector<std::string> y_tic_names = {};  // instead of the numbers

  // These return the panel, for chains such as Panel{"title", "x", "y"}.log("xy").below().
  Panel& log(std::string_view axes);
  Panel& legend_at(std::string where);
  Panel& below();  // puts the legend below the panel
  Panel& level();  // sets level_names
  Panel& x_in(double least, double most);
  Panel& y_in(double least, double most);
  Panel& add(Series one);
};

struct Plot {
  std::string title;
  std::size_t columns = 2;  // panels in a row
  std::vector<Panel> panels = {};
  int panel_width = 560;
  int panel_height = 420;
};

// A gnuplot script that draws NAME.svg and NAME.png in its working directory.
std::string gnuplot_script(const Plot& plot, const std::string& name);

// Runs directory / NAME.gp there. RunError when gnuplot fails or a picture is not complete.
void draw(const std::filesystem::path& directory, const std::string& name);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_PLOT_H_
