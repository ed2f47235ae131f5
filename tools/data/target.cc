#include "windhover/tools/data/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "windhover/samplers/config.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/data/cell.h"
#include "windhover/tools/data/shown_text.h"
#include "windhover/tools/data/table.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

bool is_for(Response response, const TargetRule& target) {
  if (target.trials || response == Response::kBinomial)
    return target.trials && response == Response::kBinomial;
  const bool continuous = is_number(response);
  switch (target.kind) {
    case TargetRule::Kind::kUnstated:
      return true;
    case TargetRule::Kind::kNumber:
    case TargetRule::Kind::kPositive:
      return continuous;
    case TargetRule::Kind::kCount:
      return (continuous && response != Response::kLogNormal) || is_count(response);
    case TargetRule::Kind::kBinary:
      return response == Response::kBernoulli || response == Response::kCategorical;
    case TargetRule::Kind::kClasses:
      return response == Response::kCategorical ||
             (response == Response::kBernoulli && target.classes.size() == 2);
  }
  return false;
}

std::string kind_text(const TargetRule& target) {
  switch (target.kind) {
    case TargetRule::Kind::kBinary:
      if (target.positive_above)
        return fmt::format("is 1 above {} and else 0", *target.positive_above);
      return fmt::format("has two categories, {} and {}",
                         target.negative ? "\"" + *target.negative + "\"" : "others",
                         target.positive ? "\"" + *target.positive + "\"" : "the positive one");
    case TargetRule::Kind::kClasses:
      return fmt::format("has the categories {}", fmt::join(target.classes, ", "));
    case TargetRule::Kind::kCount:
      return target.trials ? "is a count of trials" : "is a count";
    case TargetRule::Kind::kPositive:
      return "is a number greater than 0";
    default:
      return "is a number";
  }
}

std::size_t place_of(const std::vector<std::string>& texts, std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::find_if(texts, [&](const auto& t) { return same_category(t, text); }) -
      texts.begin());
}

}  // namespace

bool same_category(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const std::optional<double> x = parse_number(a);
  return x && x == parse_number(b);
}

bool TargetRule::is_draft() const {
  return (kind == Kind::kBinary && !positive && !positive_above) ||
         (kind == Kind::kClasses && classes.empty());
}

std::string_view TargetRule::default_model() const {
  if (!model.empty()) return model;
  switch (kind) {
    case Kind::kCount:
      return trials ? "binomial" : "negative-binomial";
    case Kind::kPositive:
      return "log-normal";
    case Kind::kBinary:
      return "logistic";
    case Kind::kClasses:
      return classes.size() == 2 ? "logistic" : "softmax";
    default:
      return "linear";
  }
}

std::vector<std::string> TargetRule::class_names() const {
  if (kind == Kind::kClasses) return classes;
  if (!positive) return {};
  return {negative.value_or("not " + *positive), *positive};
}

std::uint32_t TargetRule::class_count() const {
  if (kind == Kind::kBinary) return 2;
  return static_cast<std::uint32_t>(classes.size());
}

bool TargetRule::lists(std::string_view text) const {
  return place_of(classes, text) < classes.size() || (positive && same_category(text, *positive)) ||
         (negative && same_category(text, *negative));
}

bool TargetRule::lists_all() const {
  return kind == Kind::kClasses || negative.has_value() || trials.has_value();
}

std::string TargetRule::allowed() const {
  if (kind == Kind::kClasses) return "one of " + listed_texts(classes);
  if (negative) return fmt::format("{} or {}", *negative, *positive);
  if (kind == Kind::kPositive) return "a number greater than 0";
  return kind == Kind::kCount ? "a whole number of at least 0" : "a finite number";
}

std::optional<double> TargetRule::encode(std::string_view text, NumberForm form) const {
  if (kind == Kind::kClasses) {
    const std::size_t place = place_of(classes, text);
    if (place == classes.size()) return std::nullopt;
    return static_cast<double>(place);
  }
  if (positive) {
    if (same_category(text, *positive)) return 1.0;
    if (negative && !same_category(text, *negative)) return std::nullopt;
    return 0.0;
  }
  const std::optional<double> value = parse_written(text, form);
  if (!value) return std::nullopt;
  if (positive_above) return *value > *positive_above ? 1.0 : 0.0;
  if (kind == Kind::kPositive && !(*value > 0)) return std::nullopt;
  if (kind == Kind::kCount && (*value < 0 || *value != std::floor(*value))) return std::nullopt;
  return value;
}

void check_model(const TargetRule& target, std::string_view model, std::string_view field,
                 std::string_view path) {
  const ModelEntry* entry = find_model(model);
  if (entry == nullptr || is_for(entry->response, target)) return;
  if (entry->response == Response::kBinomial) {
    throw UserError(fmt::format(
        "the model {} needs the field that says how many trials {} of {} is of: trials = \"FIELD\" "
        "in a schema, --trials COLUMN on the command line",
        model, field, path));
  }
  std::vector<std::string_view> fitting;
  for (const ModelEntry& other : model_registry()) {
    if (is_for(other.response, target)) fitting.push_back(other.name);
  }
  throw UserError(fmt::format(
      "the model {} is not for the target {} of {}, which {}; leave the model out, which means {}, "
      "or say one of {}",
      model, field, path, kind_text(target), target.default_model(), fmt::join(fitting, ", ")));
}

void TargetTexts::add(std::string_view text) {
  ++count_;
  if (too_many_) return;
  const std::size_t place = place_of(texts_, text);
  if (texts_.empty() || place != last_) ++stretches_;
  last_ = place;
  if (place < texts_.size()) return;
  too_many_ = texts_.size() == kMaxClasses;
  if (!too_many_) texts_.emplace_back(text);
}

std::vector<std::string> TargetTexts::sorted() const {
  std::vector<std::string> texts = texts_;
  const bool numbers =
      std::ranges::all_of(texts, [](const auto& t) { return parse_number(t).has_value(); });
  std::ranges::sort(texts, [&](const std::string& a, const std::string& b) {
    return numbers ? *parse_number(a) < *parse_number(b) : a < b;
  });
  return texts;
}

void check_capitals(const TargetTexts& texts, std::string_view field, std::string_view path) {
  std::map<std::string, std::string> seen;
  for (const std::string& text : texts.sorted()) {
    std::string small = text;
    std::ranges::transform(small, small.begin(), [](unsigned char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
    });
    const auto [other, is_new] = seen.emplace(std::move(small), text);
    if (is_new) continue;
    throw UserError(
        fmt::format("{}: \"{}\" and \"{}\" of the target {} differ in capitals alone; write them "
                    "alike, or say --model softmax where they are two classes",
                    path, other->second, text, field));
  }
}

std::string positive_of(const std::vector<std::string>& two) {
  const auto says_yes = [](const std::string& text) {
    return read_cell(text, Reads::kBoolean, {}) == 1.0;
  };
  return says_yes(two.front()) && !says_yes(two.back()) ? two.front() : two.back();
}

void complete(TargetRule& target, const TargetTexts& texts, std::string_view field,
              std::string_view path) {
  using Kind = TargetRule::Kind;
  const std::vector<std::string> all = texts.sorted();
  if (target.kind == Kind::kClasses && target.classes.empty()) {
    if (texts.too_many()) {
      throw UserError(
          fmt::format("{}: the target {} has more than {} different values, the most classes that "
                      "a model takes; say which one is to be 1, with positive, or leave rows out",
                      path, field, kMaxClasses));
    }
    if (all.size() < 2) {
      throw UserError(fmt::format("{}: the target {} has {} different values; 2 are needed", path,
                                  field, all.size()));
    }
    target.classes = all;
  }
  if (target.kind != Kind::kBinary || target.positive_above) return;
  if (!target.positive) {
    if (texts.too_many() || all.size() != 2) {
      throw UserError(fmt::format(
          "{}: the target {} has {}{} different values, not 2; say which one is to be 1, with "
          "positive, or that they are classes",
          path, field, texts.too_many() ? "more than " : "", all.size()));
    }
    target.positive = positive_of(all);
  }
  const std::size_t place = place_of(all, *target.positive);
  if (place == all.size() && !texts.too_many()) {
    constexpr std::size_t kListed = 8;
    const std::vector<std::string> listed(
        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kListed)));
    throw UserError(fmt::format(
        "no row of {} has \"{}\" in column {}, which is to mean 1; it has {}{}", path,
        *target.positive, field, fmt::join(listed, ", "), all.size() > kListed ? ", ..." : ""));
  }
  if (!target.negative && all.size() == 2 && !texts.too_many()) target.negative = all[1 - place];
}

}  // namespace windhover
