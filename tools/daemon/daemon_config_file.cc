// Reads a configuration from TOML, and writes it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

#include "windhover/io/served_model.h"
#include "windhover/tools/daemon/daemon_config.h"
#include "windhover/tools/data/nearest.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using Form = DaemonOption::Form;

// A value as the text that a flag would carry; none when it has another form.
std::optional<std::string> text_of(const toml::node& node, Form form) {
  switch (form) {
    case Form::kBoolean:
      if (const auto* value = node.as_boolean()) return value->get() ? "true" : "false";
      return std::nullopt;
    case Form::kNumber:
      if (const auto* value = node.as_integer()) return fmt::format("{}", value->get());
      if (const auto* value = node.as_floating_point()) return fmt::format("{}", value->get());
      return std::nullopt;
    case Form::kText:
      if (const auto* value = node.as_string()) return value->get();
      return std::nullopt;
    case Form::kNumbers: {
      const toml::array* list = node.as_array();
      if (list == nullptr) return std::nullopt;
      std::vector<std::string> parts;
      for (const toml::node& element : *list) {
        const auto part = text_of(element, Form::kNumber);
        if (!part) return std::nullopt;
        parts.push_back(*part);
      }
      return fmt::format("{}", fmt::join(parts, ","));
    }
    case Form::kNumberOrText: {
      const auto number = text_of(node, Form::kNumber);
      return number ? number : text_of(node, Form::kText);
    }
  }
  return std::nullopt;
}

// A place as compilers write it, so that editors can go there.
std::string place_in(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", path, source.begin.line, source.begin.column);
}

bool is_models_own(std::string_view name) {
  return name.starts_with("model.") || name.starts_with("sampler.") ||
         name.starts_with("engine.") || name.starts_with("labels.");
}

// One line of the table [models]: NAME = "FILE", or NAME = {file = "FILE", follows = "NAME"}.
DaemonConfig::ModelFile model_in(const std::string& path, const toml::key& key,
                                 const toml::node& node) {
  DaemonConfig::ModelFile model;
  model.name = std::string(key.str());
  model.source = place_in(path, key.source());
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("{}: models.{} {}", model.source, model.name, why));
  };
  if (!is_model_name(model.name)) {
    refuse("is no name: 1 to 63 letters, digits, '_', '-' and '.', no '.' first");
  }
  const toml::node* file = &node;
  if (const toml::table* const table = node.as_table()) {
    for (const auto& [field, value] : *table) {
      const bool known = field.str() == "file" || field.str() == "follows";
      if (!known || !value.is_string()) refuse("has a file and follows, each a text");
    }
    file = table->get("file");
    model.follows = (*table)["follows"].value_or(std::string());
  }
  if (file == nullptr || !file->is_string()) refuse("must be the path of a TOML file");
  const std::filesystem::path beside = std::filesystem::path(path).parent_path();
  model.path = (beside / file->as_string()->get()).string();
  return model;
}

// The table [models], as it stands in the file.
std::vector<DaemonConfig::ModelFile> models_in(const toml::table& document,
                                               const std::string& path) {
  std::vector<DaemonConfig::ModelFile> files;
  const toml::node* const models = document.get("models");
  if (models == nullptr) return files;
  std::vector<std::pair<toml::source_position, DaemonConfig::ModelFile>> found;
  const std::string place = place_in(path, models->source());
  if (!models->is_table()) throw UserError(place + ": models must be a table, NAME = \"FILE\"");
  for (const auto& [key, node] : *models->as_table()) {
    found.emplace_back(key.source().begin, model_in(path, key, node));
  }
  if (found.empty()) throw UserError(place + ": models names no model");
  std::ranges::sort(found, std::less(), [](const auto& entry) { return entry.first; });
  for (auto& [position, file] : found) files.push_back(std::move(file));
  return files;
}

// Calls visit(dotted name, key, node) for every leaf.
void for_each_leaf(const toml::table& table, const std::string& prefix, const auto& visit) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (node.is_table()) {
      for_each_leaf(*node.as_table(), name + ".", visit);
    } else {
      visit(name, key, node);
    }
  }
}

}  // namespace

void DaemonConfig::read_file(const std::string& path) { read(path, Allowed::kAll); }
void DaemonConfig::read_model_file(const std::string& path) { read(path, Allowed::kModelsOwn); }
void DaemonConfig::read_model_toml(std::string_view text, const std::string& path) {
  read(text, path, Allowed::kModelsOwn);
}
void DaemonConfig::read_toml(std::string_view text, const std::string& path) {
  read(text, path, Allowed::kAll);
}

void DaemonConfig::read(const std::string& path, Allowed allowed) {
  std::ifstream in(path);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in || content.bad() || std::filesystem::is_directory(path)) {
    throw UserError(fmt::format("cannot read the configuration {}", path));
  }
  read(content.str(), path, allowed);
}

void DaemonConfig::read(std::string_view content, const std::string& path, Allowed allowed) {
  toml::table document;
  try {
    document = toml::parse(content, path);
  } catch (const toml::parse_error& error) {
    throw UserError(fmt::format("{}: {}", place_in(path, error.source()), error.description()));
  }
  if (allowed == Allowed::kAll) {
    model_files_ = models_in(document, path);
    document.erase("models");
  }
  for_each_leaf(document, "", [&](const std::string& name, const auto& key, const auto& node) {
    const auto option = std::find_if(options_.begin(), options_.end(),
                                     [&](const DaemonOption& o) { return o.name == name; });
    if (option == options_.end()) {
      const std::string place = place_in(path, key.source());
      const std::string table = name.substr(0, name.find('.') + 1);
      std::vector<std::string> all;
      std::vector<std::string> of_table;
      for (const DaemonOption& o : options_) {
        all.push_back(o.name);
        if (!table.empty() && o.name.starts_with(table)) of_table.push_back(o.name);
      }
      throw UserError(fmt::format(
          "{}: unknown key {}{}; {} {}", place, name, did_you_mean(name, all),
          of_table.empty() ? "the tables are" : "there are",
          of_table.empty() ? "model, sampler, engine, labels, server, data, process and models"
                           : fmt::format("{}", fmt::join(of_table, ", "))));
    }
    if (allowed == Allowed::kModelsOwn && !is_models_own(name)) {
      throw UserError(fmt::format(
          "{}: {} cannot be a model's own; its tables are model, sampler, engine and labels",
          place_in(path, key.source()), name));
    }
    const std::string place = place_in(path, node.source());
    const std::optional<std::string> value = text_of(node, option->form);
    if (!value) {
      throw UserError(fmt::format("{}: {} must be {}", place, name, option->allowed));
    }
    set(name, *value, place);
  });
}

std::string DaemonConfig::source_of(std::string_view sentence) const {
  constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_.";
  for (std::size_t begin = sentence.find_first_of(kNameLetters), end = 0;
       begin != std::string_view::npos; begin = sentence.find_first_of(kNameLetters, end)) {
    end = std::min(sentence.find_first_not_of(kNameLetters, begin), sentence.size());
    std::string name(sentence.substr(begin, end - begin));
    while (name.ends_with('.')) name.pop_back();
    if (name == "model.learn_prior_precision") name = "model.prior_precision";
    // A word like "rows" is meant as an option only where the sentence begins with it.
    if (begin > 0 && name.find_first_of("_.") == std::string::npos) continue;
    std::vector<std::string> sources;
    for (const auto& [option, source] : sources_) {
      if (option == name || option.ends_with("." + name)) sources.push_back(source);
    }
    // Where two options match, as of two endpoints, it is not known which is meant.
    if (sources.size() == 1) return sources.front();
  }
  return "";
}

std::string DaemonConfig::to_toml(bool with_models_own) const {
  std::string out;
  std::string table;
  for (const DaemonOption& option : options_) {
    if (!with_models_own && is_models_own(option.name)) continue;
    const std::size_t dot = option.name.rfind('.');
    if (option.name.substr(0, dot) != table) {
      table = option.name.substr(0, dot);
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", table);
    }
    out += fmt::format("{:<40} # {}\n", option.name.substr(dot + 1) + " = " + option.print(),
                       option.help_with_choices());
  }
  if (model_files_.empty()) return out;
  out += "\n[models]\n";
  for (const ModelFile& file : model_files_) {
    out += fmt::format("\"{}\" = {{file = \"{}\", follows = \"{}\"}}\n", file.name, file.path,
                       file.follows);
  }
  return out;
}

}  // namespace windhover
