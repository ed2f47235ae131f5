// Facts about the cells of one column.
#ifndef WINDHOVER_TOOLS_DATA_COLUMN_FACTS_H_
#define WINDHOVER_TOOLS_DATA_COLUMN_FACTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/tools/data/cell.h"
#include "windhover/tools/data/number_oddities.h"
#include "windhover/tools/data/written_number.h"

namespace windhover {

// Collected cell by cell in bounded memory.
class ColumnFacts {
 public:
  // The most different texts that are kept; beyond them many_texts() holds.
  static constexpr std::size_t kMostTexts = 4096;
  static constexpr std::size_t kLinesListed = 3;

  struct Cell {
    std::string text;
    std::uint64_t line = 0;
  };

  // Unless `form.thousands` holds, a number with groups or a sign is not a number, and counts as
  // adorned.
  explicit ColumnFacts(NumberForm form = {}) : form_(form) {}

  void add(std::string_view text, std::uint64_t line);
  void add_missing(std::uint64_t line);

  std::uint64_t cells() const { return cells_; }  // cells with a value
  std::uint64_t missing() const { return missing_; }
  const std::vector<std::uint64_t>& missing_lines() const { return missing_lines_; }

  std::uint64_t numbers(char decimal) const {
    return plain_or_adorned(decimal) - (form_.thousands ? 0 : adorned_);
  }
  // The numbers, those with groups or a sign included.
  std::uint64_t plain_or_adorned(char decimal) const {
    return plain_ + adorned_ + (decimal == ',' ? comma_ : point_);
  }
  bool all_numbers(char decimal) const { return cells_ > 0 && numbers(decimal) == cells_; }
  std::uint64_t adorned() const { return adorned_; }
  // Every cell is a number if that is the decimal sign and groups and signs are allowed.
  bool all_written(char decimal) const {
    return cells_ > 0 && (decimal == ',' ? by_comma_ : by_point_) == cells_;
  }
  // Some cell is a number with that decimal sign only.
  bool tells(char decimal) const { return (decimal == ',' ? only_comma_ : only_point_) > 0; }
  // Every cell is a boolean, and not all are digits.
  bool all_booleans() const { return booleans_ == cells_ && plain_ < cells_; }
  // The number of cells with a date in that order.
  std::uint64_t dates(Reads order) const { return days_of(order).count; }
  std::uint64_t times() const { return times_; }
  bool has_time_of_day() const { return time_of_day_; }
  // In that order each date is later than all before it.
  bool each_day_later(Reads order) const { return days_of(order).each_later; }
  double days_spanned(Reads order) const { return days_of(order).last - days_of(order).first; }

  bool whole() const { return whole_; }
  double least() const { return least_; }
  double greatest() const { return greatest_; }
  // Each row's number is that of the row before plus 1.
  bool counts_rows() const { return counts_rows_ && cells_ > 2 && missing_ == 0; }

  bool constant() const { return texts_.size() <= 1 || (whole_ && least_ == greatest_); }
  std::size_t different_texts() const { return texts_.size(); }
  bool many_texts() const { return cells_at_many_ > 0; }
  // Text that hardly ever comes twice.
  bool identifies_rows() const;
  // No text repeats, as far as texts are kept.
  bool all_different() const {
    return many_texts() ? texts_.size() + 1 == cells_at_many_ : texts_.size() == cells_;
  }
  const NumberOddities& oddities() const { return oddities_; }

  const Cell& first_adorned() const { return first_adorned_; }
  const Cell& first_no_number() const { return first_no_number_; }
  // Two cells of a column of numbers with different units: dollars and euros, or percent and no
  // sign. Collected only if `form.thousands` holds.
  std::optional<std::pair<Cell, Cell>> of_two_units() const;
  // The first cell that is one number with a decimal point and another with a decimal comma: 1,234.
  const Cell& first_of_two_meanings() const { return first_of_two_meanings_; }
  const Cell& first_no_date() const { return first_no_date_; }
  const Cell& first_no_count() const { return first_no_count_; }
  const Cell& first_not_positive() const { return first_not_positive_; }
  // How much more probable the best log-normal distribution makes the numbers than the best normal
  // one, in nats per number; 0 where not all are positive or all are equal.
  double log_normal_gain() const;

 private:
  // Mean and variance of numbers.
  struct Scatter {
    void add(double x) {
      const double off = x - mean;
      mean += off / ++count;
      squares += off * (x - mean);
    }
    double variance() const { return squares / count; }

    double count = 0, mean = 0, squares = 0;
  };

  // The dates of one order.
  struct Days {
    void add(double day) {
      ++count;
      each_later = each_later && day > last;
      first = std::min(first, day);
      last = std::max(last, day);
    }

    std::uint64_t count = 0;
    bool each_later = true;
    double first = std::numeric_limits<double>::infinity();
    double last = -std::numeric_limits<double>::infinity();
  };

  const Days& days_of(Reads order) const {
    return order == Reads::kYearMonthDay   ? year_first_
           : order == Reads::kDayMonthYear ? day_first_
                                           : month_first_;
  }
  void add_number(double value, std::string_view text, std::uint64_t line);
  // Whether it is a number with either decimal sign, however it is written.
  bool add_meanings(std::string_view text, std::uint64_t line);
  void add_unit(std::string_view text, std::uint64_t line);
  bool add_date(std::string_view text);

  NumberForm form_;
  std::uint64_t cells_ = 0, missing_ = 0;
  std::vector<std::uint64_t> missing_lines_;
  std::uint64_t plain_ = 0, point_ = 0, comma_ = 0;
  std::uint64_t by_point_ = 0, by_comma_ = 0, only_point_ = 0, only_comma_ = 0;
  std::uint64_t adorned_ = 0, booleans_ = 0, times_ = 0;
  Days year_first_, day_first_, month_first_;
  bool time_of_day_ = false;
  bool whole_ = true, counts_rows_ = true;
  double least_ = std::numeric_limits<double>::infinity();
  double greatest_ = -std::numeric_limits<double>::infinity();
  double previous_ = 0;
  std::set<std::string, std::less<>> texts_;
  std::uint64_t cells_at_many_ = 0;
  Cell first_adorned_, first_no_number_, first_of_two_meanings_, first_no_date_, first_no_count_;
  Cell first_not_positive_;
  Cell first_with_unit_, first_with_another_, first_without_;
  Scatter numbers_, logarithms_;
  NumberOddities oddities_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_COLUMN_FACTS_H_
