// What the target of a schema is, what its texts mean, and which models are for it.
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
  std::optional<std::string> negative;  // nothing: whatever is not positive
  std::vector<std::string> classes;
  // For a number: where it lies and how it scatters, as far as known; with the model log-normal,
  // those of its logarithm. Both or neither.
  std::optional<double> shift, scale;
  // For a count: the field with the number of trials.
  std::optional<std::string> trials;
  // The model that the schema names, of the registry's own names; empty: what the kind asks for.
  std::string_view model;

  // What is still to be filled in from a file.
  bool is_draft() const;
  // Which model it means where nobody else names one.
  std::string_view default_model() const;
  // Names of the answers: "no" and "yes", or the classes; none where texts have no names.
  std::vector<std::string> class_names() const;
  // How many a categorical model needs; 0: not said.
  std::uint32_t class_count() const;
  // `text` is one of the categories by name.
  bool lists(std::string_view text) const;
  // True where a text that is not listed is an error, never a row to skip.
  bool lists_all() const;
  // What is allowed, for a refusal: "one of bus, car, van".
  std::string allowed() const;
  // The value; nothing when `text` is none that is allowed.
  std::optional<double> encode(std::string_view text, NumberForm form) const;
};

// The same text, or the same number: "1" is "1.0".
bool same_category(std::string_view a, std::string_view b);

// UserError, naming the target, the model and what to type instead, when a model named by the user
// is not for such a target. `field` and `path` are of the schema.
void check_model(const TargetRule& target, std::string_view model, std::string_view field,
                 std::string_view path);

// The texts of a target in a file, up to so many different ones. Numbers that are equal count as
// one.
class TargetTexts {
 public:
  void add(std::string_view text);

  // Whether there are more than kMaxClasses.
  bool too_many() const { return too_many_; }
  std::uint64_t count() const { return count_; }
  // Each of several comes in one stretch, and not just as often as there are texts.
  bool one_after_the_other() const {
    return !too_many_ && texts_.size() > 1 && stretches_ == texts_.size() &&
           count_ >= kFewRows * texts_.size();
  }
  // Numbers by value where all are, else in alphabetic order.
  std::vector<std::string> sorted() const;

 private:
  static constexpr std::uint64_t kFewRows = 10;

  std::vector<std::string> texts_;
  std::uint64_t count_ = 0;
  std::uint64_t stretches_ = 0;  // runs of equal texts
  std::size_t last_ = 0;         // the place of the text before
  bool too_many_ = false;
};

// Fills in what is_draft() says is missing, and which text is the negative one. UserError where the
// file does not have it.
void complete(TargetRule& target, const TargetTexts& texts, std::string_view field,
              std::string_view path);

// UserError where two of the texts differ in capitals alone: classes that nobody means.
void check_capitals(const TargetTexts& texts, std::string_view field, std::string_view path);

// The positive one of two texts: the one that says yes where one of them does, else the last.
std::string positive_of(const std::vector<std::string>& two);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_TARGET_H_
