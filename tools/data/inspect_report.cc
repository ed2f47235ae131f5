// The report of an inspection, for programs and for people.
#include <fmt/format.h>

#include <algorithm>

#include "windhover/tools/data/inspect.h"
#include "windhover/tools/data/shown_text.h"

namespace windhover {

nlohmann::ordered_json to_json(const Inspection& inspection) {
  const SchemaParts& parts = inspection.schema.parts();
  nlohmann::ordered_json out = {
      {"path", parts.path},
      {"separator", std::string(1, parts.table.separator)},
      {"header", parts.table.header},
      {"quotes", parts.table.quotes},
      {"decimal", std::string(1, parts.numbers.decimal)},
      {"thousands", parts.numbers.thousands},
      {"target", {{"column", parts.target}, {"note", inspection.target_note}}},
      {"columns", nlohmann::ordered_json::array()}};
  const std::vector<std::string> names = parts.target_rule.class_names();
  if (!names.empty()) out["target"]["classes"] = names;
  if (!inspection.target_hint.empty()) out["target"]["hint"] = inspection.target_hint;
  for (const ColumnReport& c : inspection.columns) {
    out["columns"].push_back({{"name", c.name},
                              {"reads_as", c.reads_as},
                              {"features", c.features},
                              {"empty", c.missing},
                              {"note", c.note}});
  }
  return out;
}

std::string describe_file(const nlohmann::ordered_json& file, const std::string& prefix) {
  const auto text = [](const nlohmann::ordered_json& value) {
    return shown_text(value.get<std::string>());
  };
  const std::string separator = text(file["separator"]);
  std::string out = fmt::format(
      "{}{}: separator {}, {}{}{}{}\n{}target {}: {}\n", prefix, text(file["path"]),
      separator == "\\t" ? "tab"
      : separator == " " ? "blank"
                         : "\"" + separator + "\"",
      file["header"].get<bool>() ? "the first row names the columns"
                                 : "no row of names, so that columns are numbers",
      file["decimal"] == "," ? ", decimal commas" : "",
      file["thousands"].get<bool>() ? ", thousands in groups of three, currency and percent signs"
                                    : "",
      file["quotes"].get<bool>() ? "" : ", quotes are letters", prefix,
      text(file["target"]["column"]), text(file["target"]["note"]));
  std::size_t width = 6;
  for (const auto& c : file["columns"]) width = std::max(width, text(c["name"]).size());
  out += fmt::format("{}{:<{}}  {:<11}  {:>8}  {:>7}\n", prefix, "column", width, "read as",
                     "features", "empty");
  for (const auto& c : file["columns"]) {
    const std::string note = text(c["note"]);
    out += fmt::format("{}{:<{}}  {:<11}  {:>8}  {:>7}{}{}\n", prefix, text(c["name"]), width,
                       text(c["reads_as"]), c["features"].get<std::size_t>(),
                       c["empty"].get<std::uint64_t>(), note.empty() ? "" : "  ", note);
  }
  return out;
}

}  // namespace windhover
