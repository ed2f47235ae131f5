#include "windhover/tools/reproduce/plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "windhover/tools/error.h"
#include "windhover/tools/gnuplot.h"

namespace windhover::reproduce {

namespace {

// The colours of Okabe and Ito, which the colour-blind can tell apart, a grey and a wine red.
constexpr std::array kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00",
                                 "#56B4E9", "#000000", "#999999", "#882255"};
constexpr std::array kMarks = {7, 5, 9, 11, 13, 15, 3, 2, 1};        // filled
constexpr std::array kOpenMarks = {6, 4, 8, 10, 12, 14, 66, 1, 65};  // the same shapes

// A point without a place on a logarithmic axis is left out.
bool is_drawable(double value, bool logarithmic) {
  return std::isfinite(value) && (!logarithmic || value > 0);
}

double at(const std::vector<double>& errors, std::size_t i) {
  return i < errors.size() && std::isfinite(errors[i]) ? errors[i] : 0;
}

// Columns: x, y, the ends of their errors, and the name.
std::string data_block(const Panel& panel, const Series& series, const std::string& block) {
  std::string out = fmt::format("${} << EOD\n", block);
  for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    if (!is_drawable(series.x[i], panel.log_x) || !is_drawable(series.y[i], panel.log_y)) {
      out += "NaN NaN NaN NaN NaN NaN \"\"\n";  // a gap in a line
      continue;
    }
    const auto low = [](double value, double error, bool logarithmic) {
      return logarithmic && value <= error ? 0.01 * value : value - error;
    };
    const double x_error = at(series.x_error, i);
    const double error = at(series.error, i);
    out += fmt::format("{:.9g} {:.9g} {:.9g} {:.9g} {:.9g} {:.9g} \"{}\"\n", series.x[i],
                       series.y[i], low(series.x[i], x_error, panel.log_x), series.x[i] + x_error,
                       low(series.y[i], error, panel.log_y), series.y[i] + error,
                       i < series.names.size() ? series.names[i] : "");
  }
  return out + "EOD\n";
}

std::string plot_element(const Series& series, const std::string& block) {
  const auto colour = static_cast<std::size_t>(series.colour) % kColours.size();
  const int mark = series.papers || series.open ? kOpenMarks[colour] : kMarks[colour];
  const std::string ink = fmt::format("lc rgb '{}'", kColours[colour]);
  const std::string line = fmt::format("lw 2{}", series.papers ? " dt 3" : "");
  const double size = series.open ? 1.8 : series.papers ? 1.2 : 0.8;
  const std::string points = fmt::format("pt {} ps {}", mark, size);
  const bool errors = !series.error.empty();
  const std::string title =
      series.label.empty() ? "notitle" : fmt::format("title {}", gnuplot_text(series.label));
  std::string with;
  std::string columns = errors ? "1:2:5:6" : "1:2";
  std::string beside;  // what is drawn without a legend entry
  switch (series.style) {
    case Style::kLine:
      with = fmt::format("lines {} {}", ink, line);
      columns = "1:2";
      if (errors) {
        beside = fmt::format(
            "${} using 1:5:6 with filledcurves {} fs transparent solid 0.2 notitle", block, ink);
      }
      break;
    case Style::kDashes:
      with = fmt::format("lines {} lw 2 dt 2", ink);
      columns = "1:2";
      break;
    case Style::kPoints:
      with = fmt::format("{} {} {} lw 1.5",
                         !errors                  ? "points"
                         : series.x_error.empty() ? "yerrorbars"
                                                  : "xyerrorbars",
                         ink, points);
      if (errors && !series.x_error.empty()) columns = "1:2:3:4:5:6";
      break;
    case Style::kLinePoints:
      with = fmt::format("{} {} {} {}", errors ? "yerrorlines" : "linespoints", ink, line, points);
      break;
  }
  const std::string drawn = fmt::format("${} using {} with {} {}", block, columns, with, title);
  if (!series.names.empty()) {
    beside = fmt::format(
        "${} using 1:2:7 with labels noenhanced offset 0,{} font ',9' tc rgb '{}' notitle", block,
        colour % 2 == 0 ? 0.8 : -0.8, kColours[colour]);
  }
  return beside.empty() ? drawn : fmt::format("{}, \\\n  {}", drawn, beside);
}

std::string axis_range(char axis, const std::vector<double>& ends) {
  if (ends.size() != 2) return fmt::format("set {}range [*:*]\n", axis);
  return fmt::format("set {}range [{:.9g}:{:.9g}]\n", axis, ends[0], ends[1]);
}

// Breaks a name into lines of one word, or of several words up to eight letters.
std::string on_lines(const std::string& name) {
  std::string out;
  std::size_t length = 0;
  std::istringstream words(name);
  for (std::string word; words >> word;) {
    if (length > 0) out += length + word.size() > 8 ? '\n' : ' ';
    length = length + word.size() > 8 ? word.size() : length + word.size() + 1;
    out += word;
  }
  return out;
}

// About four steps on a linear axis of x: gnuplot's own labels overlap in a narrow panel.
std::string x_tics(const Panel& panel) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  const auto extend = [&](double x) {
    if (!std::isfinite(x)) return;
    least = std::min(least, x);
    most = std::max(most, x);
  };
  for (const Series& series : panel.series) std::ranges::for_each(series.x, extend);
  if (panel.x_range.size() == 2) least = panel.x_range[0], most = panel.x_range[1];
  if (panel.log_x || !(most > least)) return "autofreq";
  const double rough = (most - least) / 4;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / decade;
  return fmt::format("{:g}", decade * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10));
}

std::string y_tics(const Panel& panel) {
  if (panel.y_tics.empty()) return "set ytics autofreq\n";
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < panel.y_tics.size(); ++i) {
    const std::string number = fmt::format("{:g}", panel.y_tics[i]);
    tics.push_back(i < panel.y_tic_names.size()
                       ? fmt::format("{} {}", gnuplot_tic(panel.y_tic_names[i]), number)
                       : number);
  }
  return fmt::format("set format y '%g'\nset ytics ({})\n", fmt::join(tics, ", "));
}

std::string panel_script(const Panel& panel, std::size_t number) {
  std::string out = "set size noratio\n";
  out += fmt::format("set bmargin {}\n", panel.level_names ? 7 : -1);
  out += fmt::format("set title {} noenhanced\n", gnuplot_text(panel.title));
  out += fmt::format("set xlabel {} noenhanced offset 0,0.4\n", gnuplot_text(panel.x_label));
  out += fmt::format("set ylabel {} noenhanced\n", gnuplot_text(panel.y_label));
  out += panel.log_x ? "set logscale x\n" : "unset logscale x\n";
  out += panel.log_y ? "set logscale y\n" : "unset logscale y\n";
  out += fmt::format("set format x '{}'\n", panel.log_x ? "10^{%L}" : "%g");
  out += fmt::format("set format y '{}'\n", panel.log_y ? "10^{%L}" : "%g");
  const bool outside = panel.legend.starts_with("outside");
  out += fmt::format("set key default\nset key {} noenhanced{}\n", panel.legend,
                     outside ? " height 1" : "");
  std::vector<double> x_range = panel.x_range;
  if (panel.categories.empty()) {
    out += fmt::format("set xtics norotate {}\n", x_tics(panel));
  } else {
    std::string names;
    for (std::size_t i = 0; i < panel.categories.size(); ++i) {
      const std::string& name = panel.categories[i];
      names += fmt::format("{}{} {}", i == 0 ? "" : ", ",
                           gnuplot_tic(panel.level_names ? on_lines(name) : name), i);
    }
    out += fmt::format("set xtics {} noenhanced ({})\n",
                       panel.level_names ? "norotate center" : "rotate by -40 left", names);
    x_range = {-0.5, static_cast<double>(panel.categories.size()) - 0.5};
  }
  out += axis_range('x', x_range) + axis_range('y', panel.y_range);
  out += y_tics(panel);
  std::vector<std::string> elements;
  for (std::size_t s = 0; s < panel.series.size(); ++s) {
    elements.push_back(plot_element(panel.series[s], fmt::format("p{}s{}", number, s)));
  }
  // An empty panel keeps its place.
  if (elements.empty()) return out + "set multiplot next\n";
  return out + fmt::format("plot {}\n", fmt::join(elements, ", \\\n  "));
}

// The end of a file, which shows whether it is whole.
std::string tail_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.substr(text.size() - std::min<std::size_t>(text.size(), 64));
}

}  // namespace

std::string gnuplot_script(const Plot& plot, const std::string& name) {
  const std::size_t columns =
      std::clamp<std::size_t>(plot.columns, 1, std::max<std::size_t>(plot.panels.size(), 1));
  const std::size_t rows = (plot.panels.size() + columns - 1) / columns;
  const auto width = plot.panel_width * static_cast<int>(columns);
  const auto height = plot.panel_height * static_cast<int>(rows) + 40;
  std::string out = fmt::format("# Drawn again with: gnuplot {}.gp\n", name);
  for (std::size_t p = 0; p < plot.panels.size(); ++p) {
    for (std::size_t s = 0; s < plot.panels[p].series.size(); ++s) {
      out += data_block(plot.panels[p], plot.panels[p].series[s], fmt::format("p{}s{}", p, s));
    }
  }
  out += "set encoding utf8\nset grid lc rgb '#dddddd'\nset tics nomirror\nset border 3\n";
  for (const char* terminal : {"svg", "png"}) {
    out += fmt::format("set terminal {} size {},{} {} font 'Sans,12' enhanced\n",
                       terminal == std::string("svg") ? "svg" : "pngcairo", width, height,
                       terminal == std::string("svg") ? "background '#ffffff'" : "");
    out += fmt::format("set output '{}.{}'\n", name, terminal);
    out += fmt::format("set multiplot layout {},{} title {} noenhanced font 'Sans,14'\n", rows,
                       columns, gnuplot_text(plot.title));
    for (std::size_t p = 0; p < plot.panels.size(); ++p) out += panel_script(plot.panels[p], p);
    out += "unset multiplot\nset output\n";
  }
  return out;
}

void draw(const std::filesystem::path& directory, const std::string& name) {
  const int code = run_gnuplot(fmt::format("cd {}\nload {}\n", gnuplot_text(directory.string()),
                                           gnuplot_text(name + ".gp")));
  if (code != 0) {
    throw RunError(fmt::format("gnuplot failed on {} (exit code {})",
                               (directory / (name + ".gp")).string(), code));
  }
  for (const auto& [suffix, end] : {std::pair{".svg", "</svg>"}, std::pair{".png", "IEND"}}) {
    const std::filesystem::path picture = directory / (name + suffix);
    if (tail_of(picture).find(end) == std::string::npos) {
      throw RunError(fmt::format("{} is not complete: is the disk full?", picture.string()));
    }
  }
}

Series Series::line(std::string label, int colour, Numbers x, Numbers y) {
  return {std::move(label), std::move(x), std::move(y), {}, Style::kLine, colour};
}
Series Series::dashes(std::string label, int colour, Numbers x, Numbers y) {
  return {std::move(label), std::move(x), std::move(y), {}, Style::kDashes, colour};
}
Series Series::points(std::string label, int colour, Numbers x, Numbers y) {
  return {std::move(label), std::move(x), std::move(y), {}, Style::kPoints, colour};
}
Series Series::curve(std::string label, int colour, Numbers x, Numbers y) {
  return {std::move(label), std::move(x), std::move(y), {}, Style::kLinePoints, colour};
}

Series& Series::of_paper() {
  papers = true;
  return *this;
}

void Series::add(double at, double value) {
  x.push_back(at);
  y.push_back(value);
}

void Series::add(double at, const Estimate& value) {
  add(at, value.value);
  error.push_back(value.mcse);
}

Panel& Panel::log(std::string_view axes) {
  log_x = axes.find('x') != std::string_view::npos;
  log_y = axes.find('y') != std::string_view::npos;
  return *this;
}
Panel& Panel::legend_at(std::string where) {
  legend = std::move(where);
  return *this;
}
Panel& Panel::below() { return legend_at("outside bottom center horizontal"); }
Panel& Panel::level() {
  level_names = true;
  return *this;
}
Panel& Panel::x_in(double least, double most) {
  x_range = {least, most};
  return *this;
}
Panel& Panel::y_in(double least, double most) {
  y_range = {least, most};
  return *this;
}
Panel& Panel::add(Series one) {
  series.push_back(std::move(one));
  return *this;
}

}  // namespace windhover::reproduce
