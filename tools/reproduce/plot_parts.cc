// Series and panels, put together.
#include "windhover/tools/reproduce/plot.h"

namespace windhover::reproduce {

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
