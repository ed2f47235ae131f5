#include "windhover/tools/data/column_facts.h"

#include <cmath>

#include "windhover/tools/data/table.h"

namespace windhover {
namespace {

// Eight digits that form a date from 1900 to 2099.
bool is_compact_date(std::string_view text) {
  return text.size() == 8 && (text.starts_with("19") || text.starts_with("20")) &&
         parse_date(text, Reads::kYearMonthDay);
}

void note_first(ColumnFacts::Cell& cell, std::string_view text, std::uint64_t line) {
  constexpr std::size_t kShown = 40;
  if (cell.line == 0) cell = {std::string(text.substr(0, kShown)), line};
}

}  // namespace

void ColumnFacts::add_missing(std::uint64_t line) {
  ++missing_;
  if (missing_lines_.size() < kLinesListed) missing_lines_.push_back(line);
}

void ColumnFacts::add_number(double value, std::string_view text, std::uint64_t line) {
  least_ = std::min(least_, value);
  greatest_ = std::max(greatest_, value);
  whole_ = whole_ && value == std::floor(value);
  if (value < 0 || value != std::floor(value)) note_first(first_no_count_, text, line);
  counts_rows_ = counts_rows_ && (cells_ == 1 || value == previous_ + 1);
  previous_ = value;
  numbers_.add(value);
  oddities_.add(value, text);
  if (value > 0)
    logarithms_.add(std::log(value));
  else
    note_first(first_not_positive_, text, line);
}

// The log densities per number of a normal and a log-normal distribution at their maximum differ by
// their scales and the Jacobian -log y only.
double ColumnFacts::log_normal_gain() const {
  if (!(least_ > 0) || !(logarithms_.variance() > 0)) return 0;
  return 0.5 * std::log(numbers_.variance() / logarithms_.variance()) - logarithms_.mean;
}

bool ColumnFacts::add_date(std::string_view text) {
  bool is_one = false;
  const auto tries = [&](Reads order, Days& days) {
    const auto parsed = parse_date(text, order);
    if (!parsed) return;
    days.add(*parsed);
    is_one = true;
    time_of_day_ = time_of_day_ || *parsed != std::floor(*parsed);
  };
  tries(Reads::kYearMonthDay, year_first_);
  if (is_one) return true;
  tries(Reads::kDayMonthYear, day_first_);
  tries(Reads::kMonthDayYear, month_first_);
  return is_one;
}

bool ColumnFacts::add_meanings(std::string_view text, std::uint64_t line) {
  const auto point = parse_adorned(text, '.');
  const bool one_meaning = text.find_first_of(".,") == std::string_view::npos;
  const auto comma = one_meaning ? point : parse_adorned(text, ',');
  by_point_ += point.has_value();
  by_comma_ += comma.has_value();
  only_point_ += point && !comma;
  only_comma_ += comma && !point;
  if (point && comma && *point != *comma) note_first(first_of_two_meanings_, text, line);
  return point || comma;
}

void ColumnFacts::add_unit(std::string_view text, std::uint64_t line) {
  const std::string_view unit = unit_of(text);
  const Cell& first = first_with_unit_;
  if (unit.empty())
    note_first(first_without_, text, line);
  else if (first.line > 0 && unit_of(first.text) != unit)
    note_first(first_with_another_, text, line);
  else
    note_first(first_with_unit_, text, line);
}

auto ColumnFacts::of_two_units() const -> std::optional<std::pair<Cell, Cell>> {
  if (first_with_another_.line > 0) return std::pair(first_with_unit_, first_with_another_);
  const bool percent = first_with_unit_.line > 0 && unit_of(first_with_unit_.text) == "%";
  if (percent && first_without_.line > 0) return std::pair(first_with_unit_, first_without_);
  return std::nullopt;
}

void ColumnFacts::add(std::string_view text, std::uint64_t line) {
  ++cells_;
  if (!many_texts() && !texts_.contains(text)) {
    if (texts_.size() == kMostTexts) {
      cells_at_many_ = cells_;
    } else {
      texts_.emplace(text);
    }
  }
  const bool is_number = add_meanings(text, line);
  const bool plain = !form_.thousands || parse_decimal(text, form_.decimal);
  if (form_.thousands && plain) add_unit(text, line);
  if (!plain) {
    if (const auto value = parse_written(text, form_)) {
      add_unit(text, line);
      ++adorned_;
      note_first(first_adorned_, text, line);
      note_first(first_no_date_, text, line);
      add_number(*value, text, line);
      return;
    }
  }
  if (const auto value = parse_number(text)) {
    ++(text.find('.') == std::string_view::npos ? plain_ : point_);
    add_number(*value, text, line);
    if (*value == 0.0 || *value == 1.0) ++booleans_;
    if (!is_compact_date(text) || !add_date(text)) note_first(first_no_date_, text, line);
    return;
  }
  if (text.find(',') != std::string_view::npos) {
    if (const auto value = parse_decimal(text, ',')) {
      ++comma_;
      add_number(*value, text, line);
      note_first(first_no_date_, text, line);
      return;
    }
  }
  whole_ = counts_rows_ = false;
  note_first(first_no_number_, text, line);
  if (add_date(text)) return;
  note_first(first_no_date_, text, line);
  if (parse_time(text)) {
    ++times_;
  } else if (read_cell(text, Reads::kBoolean, {})) {
    ++booleans_;
  } else if (is_number) {
    ++adorned_;
    note_first(first_adorned_, text, line);
  }
}

bool ColumnFacts::identifies_rows() const {
  constexpr std::size_t kFew = 50;
  const std::uint64_t cells = many_texts() ? cells_at_many_ : cells_;
  const std::size_t different = texts_.size();
  return different > 2 && (different == cells || (different > kFew && 2 * different > cells));
}

}  // namespace windhover
