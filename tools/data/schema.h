// How a record of named fields becomes the features and the target of a model: a small TOML file,
// used for rows of a file and for questions by name alike. Its keys: schema.md.
//
// A draft may leave out categories (and give most = 100 of them), shift and scale, a spline's
// knots, and the categories of the target: `windhover schema FILE` fills them in.
#ifndef WINDHOVER_TOOLS_DATA_SCHEMA_H_
#define WINDHOVER_TOOLS_DATA_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/runtime/missing_features.h"
#include "windhover/tools/data/cell.h"
#include "windhover/tools/data/hashed.h"
#include "windhover/tools/data/natural_spline.h"
#include "windhover/tools/data/table.h"
#include "windhover/tools/data/target.h"

namespace windhover {

struct DerivedField {
  enum class Part : std::uint8_t { kHour, kMinute, kDay, kMonth, kYear };
  std::string name;
  std::string from;
  std::string format;
  Part part = Part::kHour;
};

struct FeatureRule {
  enum class Kind : std::uint8_t { kNumber, kHarmonic, kSpline, kCategory, kHash, kInteraction };
  std::string field;  // of a hash or interaction for display: "origin x carrier"
  Kind kind = Kind::kNumber;
  Reads reads = Reads::kNumber;        // number, harmonic, spline: how the text becomes a number
  std::optional<double> shift, scale;  // number
  double period = 0;                   // harmonic
  std::uint32_t harmonics = 1;
  static constexpr std::uint32_t kFewestKnots = 3, kUsualKnots = 5, kMostKnots = 32;
  std::vector<double> knots;            // spline: increasing; empty in a draft
  std::vector<std::string> categories;  // category; empty in a draft: all
  enum class Other : std::uint8_t { kRefuse, kColumn, kZero };
  Other other = Other::kRefuse;
  // Category of a draft: keeps only this many of the most frequent; 0: all. Spline of a draft: at
  // most as many knots. Hash: at most as many words of a row.
  std::uint32_t most = 0;
  // Hash: the fields, crossed if there are several. Interaction: the fields of earlier features,
  // whose columns are multiplied.
  std::vector<std::string> fields;
  std::uint32_t buckets = 0;  // its columns
  bool words = false;         // each word of the text has a 1, not the whole text
  // The treatment of a row without a value. kRow: as the schema says for rows. kColumn and kZero: a
  // number counts as `shift`, other kinds as all 0; with kColumn one more column is 1. kUnsaid: as
  // kRow, except that a category is then treated like any unlisted one, and the empty text of a
  // hash is a text like others. A crossing has no value if one of its fields has none.
  enum class Missing : std::uint8_t { kUnsaid, kRow, kColumn, kZero };
  Missing missing = Missing::kUnsaid;
  bool stands_for_missing() const {
    return missing == Missing::kColumn || missing == Missing::kZero;
  }
};

// The columns for the values of a rule, without the one for missing values.
std::size_t value_columns(const std::vector<FeatureRule>& rules, std::size_t rule);
// All columns of a rule.
std::size_t all_columns(const std::vector<FeatureRule>& rules, std::size_t rule);
// Whether two interactions have the same fields, in any order.
bool same_fields(const FeatureRule& a, const FeatureRule& b);
// The rules whose columns an interaction multiplies, a list for each of its fields.
std::vector<std::vector<std::size_t>> factors_of(const std::vector<FeatureRule>& rules,
                                                 std::size_t interaction);

// The field of a row's offset, or of its exposure, whose logarithm is the offset.
struct OffsetRule {
  std::string field;
  bool exposure = false;
};

// The contents of a schema's file.
struct SchemaParts {
  std::string path;  // named in errors
  std::string target;
  TargetRule target_rule;
  std::optional<OffsetRule> offset;
  std::optional<std::string> weight;  // the field of a row's weight
  TableOptions table;
  NumberForm numbers;
  MissingPolicy missing = MissingPolicy::kRefuse;
  std::vector<std::string> missing_texts;  // besides those of is_missing_text()
  bool sparse = false;
  std::vector<DerivedField> derived;
  std::vector<FeatureRule> rules;
};

inline constexpr const char* kTrialsExpected = "a number of trials, a whole one of 1 to 1e9,";

// One encoded record. Dense: `values` holds every feature. Sparse: `values` holds those that are
// not 0 and `indices` their columns, increasing.
struct EncodedRow {
  std::vector<double> values;
  std::vector<std::uint32_t> indices;
  double target = 0;
  double offset = 0;  // also of a question that does not give its field
  double weight = 1;  // questions always have 1
  double trials = 1;  // also of a question that does not give its field
  // Fields of a question with an unlisted category, and that category.
  std::vector<std::pair<std::string, std::string>> unlisted;
  // Hashed features: every text that has a bucket, as often as it occurs; and by rule the number of
  // words beyond the most that a row may have.
  std::vector<HashedText> hashed;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> words_left_out;
  // Why a row was skipped.
  struct Skipped {
    std::string why;     // with file, line and column
    bool empty = false;  // no value, or the row has weight 0 or 0 trials; else unreadable
  };
  Skipped skipped;
};

// Immutable. All errors are UserError with the file, the key or field, and what is allowed.
class Schema {
 public:
  static Schema from_file(const std::string& path);
  static Schema from_text(std::string_view toml, const std::string& path);
  explicit Schema(SchemaParts parts);

  const SchemaParts& parts() const { return parts_; }
  TableOptions table_options() const { return parts_.table; }
  bool sparse() const { return parts_.sparse; }
  // A draft cannot encode.
  bool is_draft() const;

  std::uint32_t features() const { return features_; }
  // The most values that a sparse row can have.
  std::uint32_t max_nonzeros() const;
  // "distance", "hour sin 1", "hour cos 1", "origin=ORD", "origin=other",
  // "hash(origin x carrier) 12345", ... Hashed features have many.
  std::vector<std::string> feature_names() const;
  std::string feature_name(std::size_t column) const;
  bool has_hashes() const;
  const std::string& target() const { return parts_.target; }
  const TargetRule& target_rule() const { return parts_.target_rule; }
  bool has_offset() const { return parts_.offset.has_value(); }
  bool has_weight() const { return parts_.weight.has_value(); }
  bool has_trials() const { return parts_.target_rule.trials.has_value(); }
  // What y is, for display: "delay > 15", "bought of visits".
  std::string target_description() const;

  const std::vector<FeatureRule>& rules() const { return parts_.rules; }
  // The index of a rule's first column among the features.
  std::size_t first_column(std::size_t rule) const { return first_columns_[rule]; }
  std::size_t rule_of(std::size_t column) const;  // whose column it is

  // The meaning of NaN in each column of a dense row, from `missing` of the features. Empty if NaN
  // occurs in no column or rows are sparse.
  std::vector<MissingFeature> missing_features() const;

  // The meaning of every feature as one canonical text, and a hash of it.
  std::string description() const;
  std::uint64_t fingerprint() const;
  // The schema as TOML, which from_text() reads.
  std::string to_toml() const;

  // Encodes a question. A derived field may be given by its own name or by the field that it comes
  // from. Every feature must be given; an offset, exposure or trials need not be, and a weight is
  // ignored. Fields that the schema does not know are refused.
  EncodedRow encode(const std::map<std::string, std::string>& fields) const;

  // Whether the text means that there is no value.
  bool is_missing(std::string_view text) const;

  // The schema with every gap of a draft filled from the file, which is read twice. Means and
  // standard deviations are over the cells that hold a number.
  Schema collected_from(const std::string& data_path) const;

 private:
  friend class RowEncoder;
  enum class Cell : std::uint8_t { kEncoded, kMissing, kUnreadable, kUnlisted };

  void index_features();
  std::string product_name(std::size_t interaction, std::size_t place) const;
  const DerivedField* derived_field(std::string_view name) const;
  void append(std::size_t column, double value, EncodedRow& row) const;
  void append_missing(std::size_t rule, EncodedRow& row, bool scaled) const;
  // `texts` are those of the rule's fields in their order.
  Cell encode_hash(std::size_t rule, const std::vector<std::string_view>& texts,
                   EncodedRow& row) const;
  void append_words(std::size_t rule, HashedKey& key, std::string_view text, EncodedRow& row) const;
  std::uint32_t bucket_column(std::size_t rule, std::uint64_t hash, EncodedRow& row) const;
  // Appends numbers, harmonics and splines.
  void append_number(std::size_t rule, double value, EncodedRow& row, bool scaled) const;
  // Products of the row's values in the columns of earlier rules, each scaled whether or not
  // `scaled` holds.
  void append_interaction(std::size_t rule, EncodedRow& row, bool scaled) const;
  using Products = std::vector<std::pair<std::size_t, double>>;  // index and value
  Products factor_values(const std::vector<std::size_t>& factor, const EncodedRow& row,
                         bool scaled) const;
  // False when the category is not listed and there is no column for others.
  bool append_category(std::size_t rule, std::string_view text, EncodedRow& row) const;
  // Encodes a cell, which is not that of a derived field's source.
  Cell encode_cell(std::size_t rule, std::string_view text, EncodedRow& row, bool scaled) const;
  // A field of a question: its text, and its number if it is derived.
  struct Given {
    std::string text;
    std::optional<double> derived;
  };
  // REQUIRES: check_fields().
  Given given_in(const std::map<std::string, std::string>& fields, const std::string& field) const;
  // UserError for a field that the schema does not know, and for missing ones.
  void check_fields(const std::map<std::string, std::string>& fields) const;
  // The number of a derived field given by its own name: 06 is 6.
  std::optional<double> own_number(std::string_view text) const {
    return read_cell(text, Reads::kNumber, parts_.numbers);
  }
  // The first column whose value exceeds `largest` or has overflowed; nothing if there is none. NaN
  // would mean that the value is missing.
  std::optional<std::size_t> overflown(const EncodedRow& row, double largest) const;
  // Nothing when the text is not a number, or not an exposure. REQUIRES: has_offset().
  std::optional<double> offset_of(std::string_view text) const;
  const char* offset_text() const;  // what is expected there
  // Nothing when no model takes the text as a weight. With 0 the row does not count.
  std::optional<double> weight_of(std::string_view text) const;
  // Nothing when the text is not a number of trials. With 0 the row says nothing.
  std::optional<double> trials_of(std::string_view text) const;
  // False for a category that is treated as any unlisted one.
  bool lists(std::size_t rule, std::string_view text) const;
  // Why encode_cell() refused the text.
  std::string refusal(std::size_t rule, Cell cell, std::string_view text) const;
  void require_complete() const;

  SchemaParts parts_;
  std::uint32_t features_ = 0;
  std::vector<std::size_t> first_columns_;
  // Both have an entry per rule.
  std::vector<std::map<std::string, std::uint32_t, std::less<>>> category_index_;
  std::vector<std::optional<NaturalSpline>> splines_;
};

// The purpose of a file's rows. A question needs no target, offset, trials or weight, and may have
// a derived field under its own name.
enum class RowUse : std::uint8_t { kObservation, kQuestion };

// Encodes the rows of one file. Looks the table's columns up once.
class RowEncoder {
 public:
  // Without `scaled`, numbers are neither shifted nor scaled.
  RowEncoder(const Schema& schema, const Table& table, RowUse use = RowUse::kObservation,
             bool scaled = true);

  // False when the row is skipped; `row.skipped` then says why. Observations with the weight 0 or 0
  // trials are always skipped; those with a missing, unreadable, unlisted or too large value only
  // if the schema says so, otherwise RowError. RowError always for a target outside the listed
  // categories, for a text that is no number of trials, for a target above its trials, and for
  // questions.
  bool encode(const Table& table, EncodedRow& row) const;

 private:
  struct Source {
    std::size_t column;
    const DerivedField* derived;  // null: the cell itself
    bool own_name;                // the cell holds a derived field under its own name
  };
  // False when the row is skipped, otherwise RowError.
  bool encode_weight(const Table& table, EncodedRow& row) const;
  bool encode_trials(const Table& table, EncodedRow& row) const;
  bool encode_target(const Table& table, EncodedRow& row) const;
  bool skip(const Table& table, std::size_t column, EncodedRow& row, const std::string& why) const;
  // Skips a row with a feature larger than a row may have.
  bool skip_too_large(const Table& table, std::size_t feature, double largest,
                      EncodedRow& row) const;
  // Encodes a hash, of one field or several.
  bool encode_hash(const Table& table, std::size_t rule, EncodedRow& row) const;

  const Schema& schema_;
  bool scaled_;
  bool skips_;
  std::optional<std::size_t> target_column_;  // nothing: a question
  std::optional<std::size_t> offset_column_;  // nothing: there is none
  std::optional<std::size_t> weight_column_;  // nothing: there is none, or a question
  std::optional<std::size_t> trials_column_;  // nothing: there is none
  std::vector<std::vector<Source>> sources_;  // per rule: one, a hash one per field
};

// A number as the categories of a derived field are written.
std::string number_text(double value);

// The letter of a part in a format.
char format_letter(DerivedField::Part part);

// The part of a date that `field` takes, as a number; nothing when the text does not fit.
std::optional<double> derive(const DerivedField& field, std::string_view text);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_SCHEMA_H_
