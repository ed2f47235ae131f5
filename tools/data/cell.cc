#include "windhover/tools/data/cell.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>

namespace windhover {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool is_one_of(std::string_view text, const auto& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return same_letters(text, word); });
}

// Reads a text from its beginning.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool at_digit() const { return !rest_.empty() && is_digit(rest_[0]); }

  // The character taken, or 0.
  char take_one_of(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_[0]) == std::string_view::npos) return 0;
    const char taken = rest_[0];
    rest_.remove_prefix(1);
    return taken;
  }
  void skip_blanks() {
    while (take_one_of(kBlanks) != 0) continue;
  }
  // Reads a number of between `least` and `most` digits.
  std::optional<int> number(std::size_t least, std::size_t most) {
    std::size_t size = 0;
    while (size < rest_.size() && size < most && is_digit(rest_[size])) ++size;
    if (size < least) return std::nullopt;
    int value = 0;
    std::from_chars(rest_.data(), rest_.data() + size, value);
    rest_.remove_prefix(size);
    return value;
  }
  std::size_t digits() const {
    return static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_digit) - rest_.begin());
  }
  std::string_view letters() {
    std::size_t size = 0;
    while (size < rest_.size() && lower(rest_[size]) >= 'a' && lower(rest_[size]) <= 'z') ++size;
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

 private:
  std::string_view rest_;
};

std::optional<int> month_of(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {
      "January", "February", "March",     "April",   "May",      "June",
      "July",    "August",   "September", "October", "November", "December"};
  for (std::size_t m = 0; m < kMonths.size(); ++m) {
    if (same_letters(word, kMonths[m]) || same_letters(word, kMonths[m].substr(0, 3)))
      return static_cast<int>(m) + 1;
  }
  return std::nullopt;
}

std::optional<int> take_month(Cursor& at) {
  return at.at_digit() ? at.number(1, 2) : month_of(at.letters());
}

std::optional<int> take_year(Cursor& at) {
  const std::size_t digits = at.digits();
  if (digits != 2 && digits != 4) return std::nullopt;
  const int year = *at.number(digits, digits);
  if (digits == 4) return year;
  return year < 69 ? 2000 + year : 1900 + year;
}

std::optional<double> days_of(std::optional<int> year, std::optional<int> month,
                              std::optional<int> day) {
  if (!year || !month || !day || *month < 1 || *day < 1) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

std::optional<double> take_year_month_day(Cursor& at) {
  if (at.digits() == 8) {
    const auto year = at.number(4, 4);
    const auto month = at.number(2, 2);
    return days_of(year, month, at.number(2, 2));
  }
  if (at.digits() != 4) return std::nullopt;
  const auto year = at.number(4, 4);
  const char between = at.take_one_of("-/.");
  if (between == 0) return std::nullopt;
  const auto month = take_month(at);
  if (at.take_one_of({&between, 1}) == 0) return days_of(year, month, 1);
  return days_of(year, month, at.number(1, 2));
}

std::optional<double> take_day_and_month(Cursor& at, bool day_first) {
  std::optional<int> day, month;
  (day_first ? day : month) = day_first ? at.number(1, 2) : take_month(at);
  const char between = at.take_one_of("-/. ");
  if (between == 0) return std::nullopt;
  at.skip_blanks();
  (day_first ? month : day) = day_first ? take_month(at) : at.number(1, 2);
  const bool comma = at.take_one_of(",") != 0;
  if (at.take_one_of({&between, 1}) == 0 && !comma) return std::nullopt;
  at.skip_blanks();
  return days_of(take_year(at), month, day);
}

std::optional<double> take_time(Cursor& at) {
  const auto hour = at.number(1, 2);
  if (!hour || at.take_one_of(":") == 0) return std::nullopt;
  const auto minute = at.number(2, 2);
  if (!minute) return std::nullopt;
  double second = 0;
  if (at.take_one_of(":") != 0) {
    const auto whole = at.number(2, 2);
    if (!whole) return std::nullopt;
    second = *whole;
    if (at.take_one_of(".,") != 0) {
      double place = 0.1;
      if (!at.at_digit()) return std::nullopt;
      for (; at.at_digit(); place /= 10) second += place * *at.number(1, 1);
    }
  }
  int hours = *hour;
  Cursor after = at;
  after.skip_blanks();
  const std::string_view half = after.letters();
  if (is_one_of(half, std::array<std::string_view, 2>{"am", "pm"})) {
    if (hours < 1 || hours > 12) return std::nullopt;
    hours = hours % 12 + (lower(half[0]) == 'p' ? 12 : 0);
    at = after;
  }
  if (hours > 23 || *minute > 59 || second >= 61) return std::nullopt;
  return hours + *minute / 60.0 + second / 3600.0;
}

// Hours ahead of UTC; 0 when the text ends; nothing when it goes on with anything else.
std::optional<double> take_offset(Cursor& at) {
  at.skip_blanks();
  if (at.at_end()) return 0.0;
  const char sign = at.take_one_of("+-");
  if (sign == 0) {
    const std::string_view zone = at.letters();
    if (is_one_of(zone, std::array<std::string_view, 3>{"Z", "UTC", "GMT"})) return 0.0;
    return std::nullopt;
  }
  const auto hours = at.number(2, 2);
  if (!hours) return std::nullopt;
  at.take_one_of(":");
  const double minutes = at.number(2, 2).value_or(0);
  return (sign == '-' ? -1.0 : 1.0) * (*hours + minutes / 60.0);
}

}  // namespace

bool is_missing_text(std::string_view text) {
  constexpr std::array<std::string_view, 6> kMissing = {"", "NA", "N/A", "NaN", "null", "?"};
  return is_one_of(trimmed(text), kMissing);
}

std::optional<double> parse_date(std::string_view text, Reads order) {
  Cursor at(text);
  const auto days = order == Reads::kYearMonthDay
                        ? take_year_month_day(at)
                        : take_day_and_month(at, order == Reads::kDayMonthYear);
  if (!days || at.at_end()) return days;
  at.take_one_of(",");
  if (at.take_one_of("T ") == 0) return std::nullopt;
  at.skip_blanks();
  const auto hours = take_time(at);
  if (!hours) return std::nullopt;
  const auto offset = take_offset(at);
  if (!offset || !at.at_end()) return std::nullopt;
  return *days + (*hours - *offset) / 24.0;
}

std::optional<double> parse_time(std::string_view text) {
  Cursor at(text);
  const auto hours = take_time(at);
  return at.at_end() ? hours : std::nullopt;
}

std::optional<double> read_cell(std::string_view text, Reads reads, NumberForm form) {
  constexpr std::array<std::string_view, 6> kTrue = {"true", "yes", "y", "t", "on", "1"};
  constexpr std::array<std::string_view, 6> kFalse = {"false", "no", "n", "f", "off", "0"};
  text = trimmed(text);
  switch (reads) {
    case Reads::kNumber:
      return parse_written(text, form);
    case Reads::kBoolean:
      if (is_one_of(text, kTrue)) return 1.0;
      if (is_one_of(text, kFalse)) return 0.0;
      return std::nullopt;
    case Reads::kYearMonthDay:
    case Reads::kDayMonthYear:
    case Reads::kMonthDayYear:
      return parse_date(text, reads);
    case Reads::kTime:
      return parse_time(text);
  }
  return std::nullopt;
}

std::string_view reads_text(Reads reads, NumberForm form) {
  switch (reads) {
    case Reads::kNumber:
      return form.decimal == ',' ? "a finite number with a decimal comma" : "a finite number";
    case Reads::kBoolean:
      return "true or false, yes or no, 1 or 0";
    case Reads::kYearMonthDay:
      return "a date, year-month-day,";
    case Reads::kDayMonthYear:
      return "a date, day-month-year,";
    case Reads::kMonthDayYear:
      return "a date, month-day-year,";
    case Reads::kTime:
      return "a time of day, hh:mm,";
  }
  return "a number";
}

}  // namespace windhover
