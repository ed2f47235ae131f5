// How a record of named fields becomes the features and the target of a model: a small TOML file,
// used alike for the rows of a file and for a question asked by name.
//
//   target = "delay"          # a field
//   positive_above = 15       # y = 1 when it is greater, else 0; or positive = "yes"; or neither
//   separator = ","           # of the file; header = false numbers the columns from 1
//   header = true
//   missing = "skip"          # or "refuse", the default: what a row with a missing number gets
//   sparse = true             # rows are sent as indices and values; default false
//
//   [derived.hour]            # a field made from another: characters picked by a format
//   from = "date"
//   format = "MMDDhhmm"       # Y M D h m s; any other character stands for itself
//   part = "hour"             # hour (with its fraction), minute, day, month, year
//
//   [[feature]]
//   field = "distance"
//   kind = "number"           # (value - shift) / scale
//   shift = 700.0
//   scale = 550.0
//
//   [[feature]]
//   field = "hour"
//   kind = "harmonic"         # sin and cos of 2 pi k value / period, k = 1 .. harmonics
//   period = 24.0
//   harmonics = 3
//
//   [[feature]]
//   field = "origin"
//   kind = "category"         # one column a category
//   categories = ["ATL", "ORD"]
//   other = "column"          # one more column for all categories not listed; or "zero": none of
//                             # the columns is set, they are the baseline; or "refuse", the default
//
// A draft may leave out categories (and say most = 100 of them), shift and scale: `windhover schema
// FILE` fills them in. For users: schema.md.
#ifndef WINDHOVER_TOOLS_SCHEMA_H_
#define WINDHOVER_TOOLS_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/tools/table.h"

namespace windhover {

struct DerivedField {
  enum class Part : std::uint8_t { kHour, kMinute, kDay, kMonth, kYear };
  std::string name;
  std::string from;
  std::string format;
  Part part = Part::kHour;
};

struct FeatureRule {
  enum class Kind : std::uint8_t { kNumber, kHarmonic, kCategory };
  std::string field;
  Kind kind = Kind::kNumber;
  std::optional<double> shift, scale;  // number
  double period = 0;                   // harmonic
  std::uint32_t harmonics = 1;
  std::vector<std::string> categories;  // category; empty in a draft: all
  enum class Other : std::uint8_t { kRefuse, kColumn, kZero };
  Other other = Other::kRefuse;
  std::uint32_t most = 0;  // draft: only so many of the most frequent; 0: all
};

// One encoded record. Dense: `values` holds every feature. Sparse: `values` holds those that are
// not 0 and `indices` their places, increasing.
struct EncodedRow {
  std::vector<double> values;
  std::vector<std::uint32_t> indices;
  double target = 0;
  // Of a question: the fields whose category is not listed, so that it is taken as any other.
  std::vector<std::string> unlisted;
};

// Immutable once read. All errors are UserError, naming the file, the key or field, and what is
// allowed.
class Schema {
 public:
  static Schema from_file(const std::string& path);
  static Schema from_text(std::string_view toml, const std::string& path);

  TableOptions table_options() const { return {separator_, header_}; }
  MissingPolicy missing() const { return missing_; }
  bool sparse() const { return sparse_; }
  // A draft cannot encode.
  bool is_draft() const;

  std::uint32_t features() const { return static_cast<std::uint32_t>(names_.size()); }
  // The most values that a sparse row can have.
  std::uint32_t max_nonzeros() const;
  // "distance", "hour sin 1", "hour cos 1", "origin=ORD", "origin=other", ...
  const std::vector<std::string>& feature_names() const { return names_; }
  const std::string& target() const { return target_; }
  // What y is, for display: "delay > 15".
  std::string target_description() const;

  const std::vector<FeatureRule>& rules() const { return rules_; }
  const std::vector<DerivedField>& derived() const { return derived_; }
  // The place of the first column of a rule among the features.
  std::size_t first_column(std::size_t rule) const { return first_columns_[rule]; }

  // Everything that gives a feature its meaning, in one canonical text, and 64 bits of it.
  std::string description() const;
  std::uint64_t fingerprint() const;
  // The target's text that means 1, where there is one.
  const std::optional<std::string>& positive() const { return positive_; }

  // As TOML again; what from_text() reads.
  std::string to_toml() const;

  // A question: fields by name, derived ones by their own name or through what they come from.
  // Every feature must be given; fields the schema does not know are refused.
  EncodedRow encode(const std::map<std::string, std::string>& fields) const;

  // The target's value from its text; nothing when it is missing.
  std::optional<double> encode_target(std::string_view text) const;

  // The schema with every gap of a draft filled from the file in one pass.
  Schema collected_from(const std::string& data_path) const;

 private:
  friend class RowEncoder;
  void index_features();
  const DerivedField* derived_field(std::string_view name) const;
  void append(std::size_t column, double value, EncodedRow& row) const;
  // For numbers and harmonics.
  void encode_number(std::size_t rule, double value, EncodedRow& row) const;
  // False when the category is not listed and there is no column for others.
  bool encode_category(std::size_t rule, std::string_view text, EncodedRow& row) const;
  std::string unknown_category(std::size_t rule, std::string_view text) const;

  std::string path_;
  std::string target_;
  std::optional<double> positive_above_;
  std::optional<std::string> positive_;
  char separator_ = ',';
  bool header_ = true;
  MissingPolicy missing_ = MissingPolicy::kRefuse;
  bool sparse_ = false;
  std::vector<DerivedField> derived_;
  std::vector<FeatureRule> rules_;

  std::vector<std::string> names_;
  std::vector<std::size_t> first_columns_;
  std::vector<std::map<std::string, std::uint32_t, std::less<>>> category_index_;  // of each rule
};

// What the rows of a file are for. A question needs no target, and a derived field may stand in it
// under its own name.
enum class RowUse : std::uint8_t { kObservation, kQuestion };

// Encodes the rows of one file. The table's columns are looked up once.
class RowEncoder {
 public:
  RowEncoder(const Schema& schema, const Table& table, RowUse use = RowUse::kObservation);

  // False when a number is missing and such rows are skipped, which those of questions never are;
  // RowError otherwise.
  bool encode(const Table& table, EncodedRow& row) const;

 private:
  struct Source {
    std::size_t column;
    const DerivedField* derived;  // null: the cell itself
  };
  const Schema& schema_;
  bool skips_;
  std::optional<std::size_t> target_column_;  // nothing: a question
  std::vector<Source> sources_;               // of each rule
};

// The letter that stands for a part in a format.
char format_letter(DerivedField::Part part);

// The part that `field` picks from a date, as a number; nothing when the text does not fit.
std::optional<double> derive(const DerivedField& field, std::string_view text);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_SCHEMA_H_
