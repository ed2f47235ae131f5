#include "windhover/tools/bench/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>
#include <vector>

#include "windhover/tools/error.h"

namespace windhover {

namespace {

std::string number_text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number()) return value.dump();
  const double x = value.get<double>();
  if (x == std::round(x) && std::abs(x) < 1e15) return fmt::format("{:.0f}", x);
  return std::abs(x) >= 1000 ? fmt::format("{:.0f}", x) : fmt::format("{:.3g}", x);
}

// Name and numbers of one line; the heading has the names of the numbers.
struct Line {
  std::vector<std::string> heading;
  std::vector<std::string> cells;
};

// Adds the line of an object's own figures, and after it those of its parts.
void add_lines(const std::string& name, const std::string& what, const Json& object,
               std::vector<Line>& lines) {
  Line line{{what}, {name}};
  for (const auto& [key, value] : object.items()) {
    if (value.is_object() || key == "name") continue;
    line.heading.push_back(key);
    line.cells.push_back(number_text(value));
  }
  if (line.cells.size() > 1) lines.push_back(std::move(line));
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) add_lines(name, key, value, lines);
  }
}

std::string table_of_lines(const std::vector<const Line*>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& cell : lines.front()->heading) widths.push_back(cell.size());
  for (const Line* line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], line->cells[i].size());
    }
  }
  std::string out;
  const auto add = [&](const std::vector<std::string>& cells) {
    out += fmt::format("{:<{}}", cells[0], widths[0]);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      out += fmt::format("  {:>{}}", cells[i], widths[i]);
    }
    out += '\n';
  };
  add(lines.front()->heading);
  for (const Line* line : lines) add(line->cells);
  return out + '\n';
}

// The figures of a run as {"path": number}.
using RunFigures = std::vector<std::pair<std::string, double>>;

void collect(const std::string& prefix, const Json& object, RunFigures& out) {
  for (const auto& [key, value] : object.items()) {
    const std::string path = prefix.empty() ? key : fmt::format("{}.{}", prefix, key);
    if (value.is_object()) collect(path, value, out);
    if (value.is_number()) out.emplace_back(path, value.get<double>());
  }
}

std::vector<std::pair<std::string, RunFigures>> figures_of(const Json& result) {
  std::vector<std::pair<std::string, RunFigures>> out;
  const auto add = [&](const std::string& name, const Json& object) {
    out.emplace_back(name, RunFigures{});
    collect("", object, out.back().second);
  };
  add("limits", result.value("limits", Json::object()));
  for (const Json& run : result["runs"]) add(run["name"].get<std::string>(), run);
  return out;
}

struct Pair {
  std::string name, figure;
  double before, after;
};

std::vector<Pair> pairs(const Json& before, const Json& after) {
  require_comparable(before, after);
  std::vector<Pair> out;
  const auto old = figures_of(before);
  for (const auto& [name, figures] : figures_of(after)) {
    const auto same = std::ranges::find(old, name, &std::pair<std::string, RunFigures>::first);
    if (same == old.end()) continue;
    for (const auto& [figure, value] : figures) {
      const auto was =
          std::ranges::find(same->second, figure, &std::pair<std::string, double>::first);
      if (was == same->second.end() || (was->second == 0 && value == 0)) continue;
      out.push_back({name, figure, was->second, value});
    }
  }
  return out;
}

// New / old as a number; where one of them is 0, "old -> new".
Json ratio_of(const Pair& p) {
  if (p.before != 0 && p.after != 0) return p.after / p.before;
  return fmt::format("{} -> {}", number_text(p.before), number_text(p.after));
}

std::string ratio_text(const Pair& p) {
  const Json ratio = ratio_of(p);
  return ratio.is_string() ? ratio.get<std::string>() : fmt::format("{:.3f}", ratio.get<double>());
}

// What differs between two results although their options are the same.
Json differences(const Json& before, const Json& after) {
  Json out = Json::object();
  for (const char* what : {"processor", "instruction_set", "compiler", "version", "revision"}) {
    const Json old = before.value(what, Json("unknown"));
    const Json now = after.value(what, Json("unknown"));
    if (old != now) out[what] = fmt::format("{} -> {}", number_text(old), number_text(now));
  }
  return out;
}

}  // namespace

std::string text_of(const Json& result) {
  std::vector<Line> lines;
  std::string out;
  for (const auto& [key, value] : result.items()) {
    if (key == "runs" || key == "limits") continue;
    out += fmt::format("{}: {}\n", key, number_text(value));
  }
  out += '\n';
  if (result.contains("limits")) add_lines("this machine", "limits", result["limits"], lines);
  for (const Json& run : result["runs"]) add_lines(run["name"], "run", run, lines);
  // Tables follow the order in which their headings first appear.
  std::vector<bool> printed(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (printed[i]) continue;
    std::vector<const Line*> same;
    for (std::size_t k = i; k < lines.size(); ++k) {
      if (lines[k].heading != lines[i].heading) continue;
      same.push_back(&lines[k]);
      printed[k] = true;
    }
    out += table_of_lines(same);
  }
  return out;
}

Json read_result(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UserError(fmt::format("--compare: cannot open {}", path));
  Json result = Json::parse(file, nullptr, false);
  const bool usable = result.is_object() && result.contains("suite") && result.contains("runs") &&
                      result["runs"].is_array() &&
                      std::ranges::all_of(result["runs"], [](const Json& run) {
                        return run.is_object() && run.contains("name") && run["name"].is_string();
                      });
  if (!usable) {
    throw UserError(fmt::format("--compare: {} is not what windhover bench --json prints", path));
  }
  return result;
}

void require_comparable(const Json& before, const Json& after) {
  if (before["suite"] != after["suite"]) {
    throw UserError(fmt::format("--compare: the old result is of suite {}, this one of {}",
                                before["suite"].dump(), after["suite"].dump()));
  }
  const Json defaults = to_json(BenchOptions{});
  const auto with_defaults = [&](const Json& result) {
    Json all = defaults;
    if (result.contains("options") && result["options"].is_object()) all.update(result["options"]);
    return all;
  };
  const Json old = with_defaults(before);
  const Json now = with_defaults(after);
  std::string differ;
  for (const auto& [option, value] : now.items()) {
    if (old[option] == value) continue;
    differ += fmt::format("{}{} was {}, now {}", differ.empty() ? "" : "; ", option,
                          old[option].dump(), value.dump());
  }
  if (!differ.empty()) throw UserError("--compare: results of other options: " + differ);
}

Json ratios(const Json& before, const Json& after) {
  Json out = Json::object();
  if (Json differ = differences(before, after); !differ.empty()) out["differs"] = std::move(differ);
  for (const Pair& p : pairs(before, after)) out[p.name][p.figure] = ratio_of(p);
  return out;
}

std::string text_of_ratios(const Json& before, const Json& after) {
  const std::vector<std::string> heading = {"run", "figure", "old", "new", "new/old"};
  std::vector<Line> lines;
  for (const Pair& p : pairs(before, after)) {
    lines.push_back(
        {heading, {p.name, p.figure, number_text(p.before), number_text(p.after), ratio_text(p)}});
  }
  std::string differ;
  const Json changes = differences(before, after);
  for (const auto& [what, change] : changes.items()) {
    differ += fmt::format("{}: {}\n", what, change.get<std::string>());
  }
  if (lines.empty()) return differ + "the two results have no run in common\n";
  std::vector<const Line*> all;
  all.reserve(lines.size());
  for (const Line& line : lines) all.push_back(&line);
  return differ + table_of_lines(all);
}

}  // namespace windhover
