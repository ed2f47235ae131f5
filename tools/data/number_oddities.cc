#include "windhover/tools/data/number_oddities.h"

#include <algorithm>

namespace windhover {

void NumberOddities::add(double value, std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  leading_zeros_ = leading_zeros_ || (text.size() > 1 && text[0] == '0' && is_digit(text[1]));
  lengths_differ_ = lengths_differ_ || (length_ != 0 && text.size() != length_);
  length_ = text.size();
  const auto* const known = std::ranges::find(kPlaceholders, value);
  if (known != kPlaceholders.end()) {
    Placeholder& one = found_[static_cast<std::size_t>(known - kPlaceholders.begin())];
    ++one.count;
    const bool is_new = std::ranges::find(one.texts, text) == one.texts.end();
    if (is_new && one.texts.size() < kMostTexts) one.texts.emplace_back(text);
    return;
  }
  least_ = std::min(least_, value);
  greatest_ = std::max(greatest_, value);
}

std::optional<NumberOddities::Placeholder> NumberOddities::placeholder() const {
  const double span = greatest_ - least_;
  if (!(span > 0)) return std::nullopt;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const bool far = kPlaceholders[i] < least_ - span || kPlaceholders[i] > greatest_ + span;
    if (found_[i].count > 1 && far) return found_[i];
  }
  return std::nullopt;
}

}  // namespace windhover
