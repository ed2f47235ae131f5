#include "windhover/tools/data/encode_file.h"

#include <fmt/format.h>

#include <iterator>

#include "windhover/tools/data/csv_cell.h"
#include "windhover/tools/data/skipped_rows.h"
#include "windhover/tools/data/table.h"

namespace windhover {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

class Lines {
 public:
  Lines(const Schema& schema, RowUse use)
      : schema_(schema), observations_(use == RowUse::kObservation) {}

  void append_header() {
    text_ += "row";
    if (observations_) text_ += ",y";
    if (schema_.has_offset()) text_ += ",offset";
    if (has_weight()) text_ += ",weight";
    if (schema_.has_trials()) text_ += ",trials";
    if (schema_.sparse()) {
      text_ += ",features";
    } else {
      for (std::uint32_t j = 0; j < schema_.features(); ++j) {
        text_ += ',';
        append_cell(text_, schema_.feature_name(j), ',');
      }
    }
    text_ += '\n';
  }

  void append(std::uint64_t number, const EncodedRow& row) {
    const auto to = std::back_inserter(text_);
    fmt::format_to(to, "{}", number);
    if (observations_) fmt::format_to(to, ",{}", row.target);
    if (schema_.has_offset()) fmt::format_to(to, ",{}", row.offset);
    if (has_weight()) fmt::format_to(to, ",{}", row.weight);
    if (schema_.has_trials()) fmt::format_to(to, ",{}", row.trials);
    if (schema_.sparse()) text_ += ',';
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (!schema_.sparse()) {
        fmt::format_to(to, ",{}", row.values[i]);
      } else {
        fmt::format_to(to, "{}{}:{}", i > 0 ? " " : "", row.indices[i], row.values[i]);
      }
    }
    text_ += '\n';
  }

  bool is_a_piece() const { return text_.size() >= kPiece; }
  void hand_to(const std::function<void(std::string_view)>& on_lines) {
    on_lines(text_);
    text_.clear();
  }

 private:
  bool has_weight() const { return observations_ && schema_.has_weight(); }

  const Schema& schema_;
  bool observations_;
  std::string text_;
};

}  // namespace

std::string EncodeReport::trouble(std::string_view name) const {
  if (unreadable == 0) return "";
  return unreadable_text(unreadable, name, "were skipped");
}

EncodeReport encode_file(const Schema& schema, const EncodeFile& file) {
  Table table(file.path, schema.table_options());
  const RowEncoder encoder(schema, table, file.use);
  Lines lines(schema, file.use);
  lines.append_header();
  EncodeReport report;
  SkippedRows skipped(file.on_skipped);
  EncodedRow row;
  while (table.next()) {
    ++report.rows;
    if (encoder.encode(table, row)) {
      lines.append(report.rows, row);
      if (lines.is_a_piece()) lines.hand_to(file.on_lines);
      continue;
    }
    skipped.add(row.skipped);
  }
  report.skipped = skipped.total();
  report.unreadable = skipped.unreadable();
  lines.hand_to(file.on_lines);
  return report;
}

}  // namespace windhover
