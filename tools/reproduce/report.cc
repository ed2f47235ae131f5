#include "windhover/tools/reproduce/report.h"

#include <algorithm>
#include <array>

namespace windhover::reproduce {

using nlohmann::ordered_json;

namespace {

std::string shown(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-";
}

// With all digits that the paper prints.
std::string as_printed(const Figure& figure) {
  if (!figure.papers) return "";
  return figure.papers_decimals < 0
             ? fmt::format("{}", *figure.papers)
             : fmt::format("{:.{}f}", *figure.papers, figure.papers_decimals);
}

// A "|" in a name must not start a column of the table.
std::string in_table(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

// The value to three digits of `scale`, without zeros at the end.
std::string rounded(double value, double scale) {
  if (scale == 0) return fmt::format("{:g}", value);
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(scale))) - 2);
  return fmt::format("{:g}", std::round(value / unit) * unit);
}

// Bars that follow from a Monte Carlo error have no more digits than that.
std::string range(const Bar& bar) {
  if (std::isinf(bar.least)) return "≤ " + rounded(bar.most, bar.most);
  if (std::isinf(bar.most)) return "≥ " + rounded(bar.least, bar.least);
  const double width = bar.most - bar.least;
  return fmt::format("{} to {}", rounded(bar.least, width), rounded(bar.most, width));
}

std::string shown(const Bar& bar) {
  return range(bar) + (bar.decided ? "" : ", too few replications to tell");
}

// Indexed by Style.
constexpr std::array kStyles = {"line", "dashes", "points", "line and points"};

// A value that is not finite is null in the file.
ordered_json figure_json(const Figure& figure) {
  ordered_json out = {{"group", figure.group}, {"name", figure.name}, {"ours", figure.ours},
                      {"mcse", nullptr},       {"papers", nullptr},   {"papers_source", nullptr},
                      {"bar", nullptr},        {"met", nullptr},      {"timed", figure.timed}};
  if (figure.mcse) out["mcse"] = *figure.mcse;
  if (figure.papers) {
    out["papers"] = *figure.papers;
    out["papers_source"] = figure.papers_source;
  }
  if (figure.bar) {
    out["bar"] = shown(*figure.bar);
    out["met"] = figure.met();
  }
  return out;
}

ordered_json panel_json(const Panel& panel) {
  ordered_json out = {{"title", panel.title},
                      {"x", panel.x_label},
                      {"y", panel.y_label},
                      {"series", ordered_json::array()}};
  if (!panel.categories.empty()) out["categories"] = panel.categories;
  for (const Series& series : panel.series) {
    ordered_json one = {{"label", series.label},
                        {"style", kStyles.at(static_cast<std::size_t>(series.style))},
                        {"papers", series.papers},
                        {"x", series.x},
                        {"y", series.y}};
    if (!series.error.empty()) one["error"] = series.error;
    out["series"].push_back(std::move(one));
  }
  return out;
}

// A table has only the columns that some figure of the group fills.
std::string table(const std::vector<const Figure*>& figures) {
  const auto any = [&](auto has) { return std::ranges::any_of(figures, has); };
  const bool papers = any([](const Figure* f) { return f->papers.has_value(); });
  const bool bars = any([](const Figure* f) { return f->bar.has_value(); });
  std::string head = "| figure | ours |";
  std::string rule = "| --- | --- |";
  if (papers) head += " the paper's | where |", rule += " --- | --- |";
  if (bars) head += " bar | met |", rule += " --- | --- |";
  std::string out = head + "\n" + rule + "\n";
  for (const Figure* f : figures) {
    out += fmt::format("| {} | {}{}{} |", in_table(f->name), shown(f->ours),
                       f->mcse ? fmt::format(" ± {:.2g}", *f->mcse) : "",
                       f->timed && std::isfinite(f->ours) ? " (timed)" : "");
    if (papers) out += fmt::format(" {} | {} |", as_printed(*f), f->papers_source);
    if (bars) {
      out +=
          f->bar ? fmt::format(" {} | {} |", shown(*f->bar), f->met() ? "yes" : "**no**") : " | |";
    }
    out += "\n";
  }
  return out;
}

}  // namespace

Figure& Figure::beside(std::optional<double> printed, std::string source, int decimals) {
  if (!printed || std::isnan(*printed)) return *this;
  papers = printed;
  papers_source = std::move(source);
  papers_decimals = decimals;
  return *this;
}
Figure& Figure::held_to(std::optional<Bar> to) {
  bar = to;
  return *this;
}
Figure& Figure::held_to(const Bar& to, double within) {
  return held_to(decided_within(to, within, mcse.value()));
}
Figure& Figure::by_clock() {
  timed = true;
  return *this;
}

ordered_json Report::to_json(const RunFacts& facts) const {
  ordered_json out = {
      {"name", facts.name},       {"source", facts.source}, {"summary", facts.summary},
      {"command", facts.command}, {"quick", facts.quick},   {"seed", facts.seed},
      {"threads", facts.threads}, {"cores", facts.cores},   {"processor", facts.processor},
      {"seconds", facts.seconds}, {"builds", facts.builds}};
  out["figures"] = ordered_json::array();
  for (const Figure& figure : figures_) out["figures"].push_back(figure_json(figure));
  out["notes"] = notes_;
  out["left_out"] = left_out_;
  out["panels"] = ordered_json::array();
  for (const Panel& panel : plot_.panels) out["panels"].push_back(panel_json(panel));
  out["details"] = details_;
  return out;
}

std::string Report::page(const RunFacts& facts) const {
  std::string out = fmt::format("# {}\n\n{}. {}.\n\n", facts.name, facts.source, facts.summary);
  if (facts.quick) {
    out += "A quick run: fewer seeds, steps or settings than without `--quick`.\n\n";
  }
  for (const std::string& text : left_out_) out += fmt::format("Left out: {}.\n\n", text);
  std::vector<std::string> groups;
  for (const Figure& f : figures_) {
    if (std::ranges::find(groups, f.group) == groups.end()) groups.push_back(f.group);
  }
  for (const std::string& group : groups) {
    if (!group.empty()) out += fmt::format("## {}\n\n", group);
    std::vector<const Figure*> members;
    for (const Figure& f : figures_) {
      if (f.group == group) members.push_back(&f);
    }
    out += table(members) + "\n";
  }
  out +=
      "± is one Monte Carlo standard error. Figures without are exact, counts, or of a single run; "
      "what a clock measured is marked as timed and differs from run to run.\n\n";
  if (!plot_.panels.empty()) out += fmt::format("![{0}]({0}.svg)\n\n", facts.name);
  if (!notes_.empty()) out += "## Findings\n\n";
  for (const std::string& text : notes_) out += fmt::format("- {}\n", text);
  out += fmt::format(
      "\n## Run\n\n    {}\n\n{:.0f} s on {} of {} cores ({}), seed {}. All numbers: "
      "[{}.json]({}.json).\n",
      facts.command, std::ceil(facts.seconds), facts.threads, facts.cores, facts.processor,
      facts.seed, facts.name, facts.name);
  if (facts.builds > 1) {
    out += fmt::format(
        "\nIts parts come from {} builds of the program: no single one gives all these figures.\n",
        facts.builds);
  }
  return out;
}

}  // namespace windhover::reproduce
