// The target of a schema: its kind, the meaning of its texts, and the models for it.
#ifndef WINDHOVER_TOOLS_DATA_TARGET_H_
#define WINDHOVER_TOOLS_DATA_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/tools/data/written_number.h"

namespace windhover {

struct TargetRule {
  enum class Kind : std::uint8_t {
    kUnstated,  // a number; any model may be asked for
    kNumber,
    kCount,     // 0, 1, 2, ...
    kPositive,  // a number greater than 0
    kBinary,    // 1 or 0: `positive_above`, or `positive` and perhaps `negative`
    kClasses,   // one of `classes`, sent as its number from 0
  };
  Kind kind = Kind::kUnstated;
  std::optional<double> positive_above;
  std::optional<std::string> positive;
  std::optional<std::string> negative;  // nothing: all texts but `positive`
  std::vector<std::string> classes;
  // For a number: its location and scale, as far as known; for the model log-normal those of its
  // logarithm. Both or neither.
  std::optional<double> shift, scale;
  // For a count: the field with the number of trials.
  std::optional<std::string> trials;
  // The model that the schema names, as spelled in the registry; empty: the kind's default.
  std::string_view model;

  // Whether categories remain to be filled in from a file.
  bool is_draft() const;
  // The model where nobody names one.
  std::string_view default_model() const;
  // Names of the answers: "no" and "yes", or the classes; none where texts have no names.
  std::vector<std::string> class_names() const;
  // The number of classes of a categorical model; 0: unknown.
  std::uint32_t class_count() const;
  // Whether `text` is a listed category.
  bool lists(std::string_view text) const;
  // Whether an unlisted text is always an error and its row never skipped.
  bool lists_all() const;
  // What is allowed, for an error: "one of bus, car, van".
  std::string allowed() const;
  // The value; nothing when `text` is not allowed.
  std::optional<double> encode(std::string_view text, NumberForm form) const;
};

// The same text or the same number: "1" equals "1.0".
bool same_category(std::string_view a, std::string_view b);

// UserError, with the target, the model and what to type instead, when the user names a model that
// does not take this target. `field` and `path` are the schema's.
void check_model(const TargetRule& target, std::string_view model, std::string_view field,
                 std::string_view path);

// The different texts of a target in a file, at most kMaxClasses. Equal numbers count as one text.
class TargetTexts {
 public:
  void add(std::string_view text);

  // Whether there are more than kMaxClasses.
  bool too_many() const { return too_many_; }
  std::uint64_t count() const { return count_; }
  // Each of several texts comes in one stretch, and there are at least kFewRows rows per text.
  bool one_after_the_other() const {
    return !too_many_ && texts_.size() > 1 && stretches_ == texts_.size() &&
           count_ >= kFewRows * texts_.size();
  }
  // Sorted by value where all are numbers, otherwise alphabetically.
  std::vector<std::string> sorted() const;

 private:
  static constexpr std::uint64_t kFewRows = 10;

  std::vector<std::string> texts_;
  std::uint64_t count_ = 0;
  std::uint64_t stretches_ = 0;  // stretches of equal texts
  std::size_t last_ = 0;         // the index of the previous text
  bool too_many_ = false;
};

// Fills in what is_draft() reports as missing, and the negative text. UserError where the file does
// not have it.
void complete(TargetRule& target, const TargetTexts& texts, std::string_view field,
              std::string_view path);

// UserError where two texts differ only in case, as such classes are hardly meant.
void check_capitals(const TargetTexts& texts, std::string_view field, std::string_view path);

// The positive of two texts: the one that means yes if one does, otherwise the last.
std::string positive_of(const std::vector<std::string>& two);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_TARGET_H_
