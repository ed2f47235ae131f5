// The results of an experiment: figures beside those of the paper, plots, and findings in words.
#ifndef WINDHOVER_TOOLS_REPRODUCE_REPORT_H_
#define WINDHOVER_TOOLS_REPRODUCE_REPORT_H_

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/tools/reproduce/plot.h"

namespace windhover::reproduce {

// The range that one of our figures is held to.
struct Bar {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool decided = true;  // false: too few replications to tell; the bar is then not met

  bool holds(double value) const { return decided && least <= value && value <= most; }
};
inline Bar at_most(double most) { return {.most = most}; }
inline Bar at_least(double least) { return {.least = least}; }
// A bar widened by a Monte Carlo error says nothing where that error is large. The error may be at
// most a third of `within`, the deviation that the bar allows the truth.
inline Bar decided_within(Bar bar, double within, double mcse) {
  bar.decided = mcse <= within / 3;
  return bar;
}

// The bar if `held`.
inline std::optional<Bar> when(bool held, const Bar& bar) {
  return held ? std::optional(bar) : std::nullopt;
}

struct Figure {
  std::string group;  // a table of the page per group
  std::string name;   // with its unit, where it has one
  double ours = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> mcse = {};    // Monte Carlo standard error of ours; exact figures have none
  std::optional<double> papers = {};  // as printed
  std::string papers_source = {};     // e.g. "Table 1"
  int papers_decimals = -1;           // digits where the paper prints trailing zeros: 1 for 14.0
  std::optional<Bar> bar = {};
  bool timed = false;  // measured by a clock: differs from run to run

  // These return the figure, to be chained after Table::add(). beside() does nothing without a
  // printed value.
  Figure& beside(std::optional<double> printed, std::string source, int decimals = -1);
  Figure& held_to(std::optional<Bar> to);
  // Holds the figure to decided_within() of the bar, by its own standard error.
  Figure& held_to(const Bar& to, double within);
  Figure& by_clock();

  bool met() const { return !bar || bar->holds(ours); }
};

// How a run came about, written into its report by the driver.
struct RunFacts {
  std::string name;
  std::string source;
  std::string summary;
  std::string command;
  bool quick = false;  // and shortened by it
  std::uint64_t seed = 0;
  unsigned threads = 0;
  unsigned cores = 0;
  std::string processor;
  double seconds = 0;      // those of resumed runs included
  std::size_t builds = 1;  // of the program, which the parts come from
};

// One thread.
class Report {
 public:
  Figure& add(Figure figure) { return figures_.emplace_back(std::move(figure)); }
  void add(Panel panel) { plot_.panels.push_back(std::move(panel)); }
  // A finding, or a deviation from the paper: one or a few sentences of Markdown.
  void note(std::string text) { notes_.push_back(std::move(text)); }
  template <class... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) {
    note(fmt::format(text, std::forward<Args>(args)...));
  }
  // What was left out and why: a sentence without a full stop, which the index shows, too.
  void leave_out(std::string text) { left_out_.push_back(std::move(text)); }
  template <class... Args>
  void leave_out(fmt::format_string<Args...> text, Args&&... args) {
    leave_out(fmt::format(text, std::forward<Args>(args)...));
  }
  // Raw results, which only the JSON holds.
  void detail(const std::string& key, nlohmann::ordered_json value) {
    details_[key] = std::move(value);
  }

  Plot& plot() { return plot_; }
  const Plot& plot() const { return plot_; }
  const std::vector<Figure>& figures() const { return figures_; }
  const std::vector<std::string>& notes() const { return notes_; }

  nlohmann::ordered_json to_json(const RunFacts& facts) const;
  std::string page(const RunFacts& facts) const;

 private:
  std::vector<Figure> figures_;
  std::vector<std::string> notes_;
  std::vector<std::string> left_out_;
  nlohmann::ordered_json details_ = nlohmann::ordered_json::object();
  Plot plot_;
};

// Adds figures of one group, which form one table of the page.
class Table {
 public:
  Table(Report& report, std::string group) : report_(report), group_(std::move(group)) {}

  Figure& add(std::string name, double exact) {
    return report_.add(Figure{.group = group_, .name = std::move(name), .ours = exact});
  }
  Figure& add(std::string name, const Estimate& e) {
    return report_.add(
        Figure{.group = group_, .name = std::move(name), .ours = e.value, .mcse = e.mcse});
  }

 private:
  Report& report_;
  std::string group_;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_REPORT_H_
