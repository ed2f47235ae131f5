// Names of the values of a schema's keys, for reading and writing.
#ifndef WINDHOVER_TOOLS_DATA_SCHEMA_NAMES_H_
#define WINDHOVER_TOOLS_DATA_SCHEMA_NAMES_H_

#include <array>
#include <string_view>
#include <utility>

#include "windhover/tools/data/schema.h"

namespace windhover::schema_names {

inline constexpr std::array<std::pair<std::string_view, DerivedField::Part>, 5> kParts = {{
    {"hour", DerivedField::Part::kHour},
    {"minute", DerivedField::Part::kMinute},
    {"day", DerivedField::Part::kDay},
    {"month", DerivedField::Part::kMonth},
    {"year", DerivedField::Part::kYear},
}};
inline constexpr std::array<std::pair<std::string_view, FeatureRule::Kind>, 4> kKinds = {{
    {"number", FeatureRule::Kind::kNumber},
    {"harmonic", FeatureRule::Kind::kHarmonic},
    {"spline", FeatureRule::Kind::kSpline},
    {"category", FeatureRule::Kind::kCategory},
}};

inline constexpr std::array<std::pair<std::string_view, FeatureRule::Other>, 3> kOthers = {{
    {"refuse", FeatureRule::Other::kRefuse},
    {"column", FeatureRule::Other::kColumn},
    {"zero", FeatureRule::Other::kZero},
}};

inline constexpr std::array<std::pair<std::string_view, FeatureRule::Missing>, 3> kMissing = {{
    {"row", FeatureRule::Missing::kRow},
    {"column", FeatureRule::Missing::kColumn},
    {"zero", FeatureRule::Missing::kZero},
}};
inline constexpr std::array<std::pair<std::string_view, Reads>, 6> kReads = {{
    {"number", Reads::kNumber},
    {"boolean", Reads::kBoolean},
    {"year-month-day", Reads::kYearMonthDay},
    {"day-month-year", Reads::kDayMonthYear},
    {"month-day-year", Reads::kMonthDayYear},
    {"time", Reads::kTime},
}};
inline constexpr std::array<std::pair<std::string_view, TargetRule::Kind>, 5> kTargetKinds = {{
    {"number", TargetRule::Kind::kNumber},
    {"count", TargetRule::Kind::kCount},
    {"positive-number", TargetRule::Kind::kPositive},
    {"binary", TargetRule::Kind::kBinary},
    {"classes", TargetRule::Kind::kClasses},
}};
inline constexpr std::array<std::pair<std::string_view, char>, 2> kDecimals = {
    {{".", '.'}, {",", ','}}};

template <class Names, class Value>
std::string_view name_of(const Names& names, Value value) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  return "?";
}

}  // namespace windhover::schema_names

#endif  // WINDHOVER_TOOLS_DATA_SCHEMA_NAMES_H_
