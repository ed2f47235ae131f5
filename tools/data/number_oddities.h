#ifndef WINDHOVER_TOOLS_DATA_NUMBER_ODDITIES_H_
#define WINDHOVER_TOOLS_DATA_NUMBER_ODDITIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace windhover {

// Signs that the numbers of a column are not quantities, collected cell by cell.
class NumberOddities {
 public:
  void add(double value, std::string_view text);

  // Some begin with 0, as postal codes do.
  bool has_leading_zeros() const { return leading_zeros_; }
  // All have the same length of at least kLong, as customer or order numbers have.
  bool has_length_of_identifiers() const { return !lengths_differ_ && length_ >= kLong; }

  // A number commonly written for a missing value, -999 or 99999, that occurs more than once and is
  // farther from the others than their range.
  struct Placeholder {
    std::vector<std::string> texts;  // its spellings, at most kMostTexts
    std::uint64_t count = 0;         // cells with it
  };
  std::optional<Placeholder> placeholder() const;

 private:
  static constexpr std::size_t kLong = 5;
  static constexpr std::size_t kMostTexts = 4;
  static constexpr std::array kPlaceholders = {-99.0, -999.0, -9999.0, -99999.0,
                                               999.0, 9999.0, 99999.0};

  bool leading_zeros_ = false;
  bool lengths_differ_ = false;
  std::size_t length_ = 0;
  std::array<Placeholder, kPlaceholders.size()> found_;
  double least_ = std::numeric_limits<double>::infinity();  // the other numbers' range
  double greatest_ = -std::numeric_limits<double>::infinity();
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_NUMBER_ODDITIES_H_
