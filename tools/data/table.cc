#include "windhover/tools/data/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "windhover/tools/data/csv_rows.h"
#include "windhover/tools/data/nearest.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
}

// A name that no column has yet, as columns are found by name.
std::string unused_name(const std::vector<std::string>& names, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; std::ranges::find(names, name) != names.end(); ++number) {
    name = fmt::format("{} ({})", wanted, number);
  }
  return name;
}

// Whether a line has LIBSVM's form "1 3:0.5 7:1.2": a label, then columns and values that are not
// 0.
bool is_libsvm(std::string_view line) {
  std::size_t pairs = 0;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    const std::size_t colon = word.find(':');
    if (colon != std::string_view::npos) {
      if (!parse_number(word.substr(0, colon)) || !parse_number(word.substr(colon + 1)))
        return false;
      ++pairs;
    } else if (!word.empty() && (pairs > 0 || !parse_number(word))) {
      return false;
    }
    begin = end + 1;
  }
  return pairs > 0;
}

}  // namespace

Table::Table(const std::string& path, const TableOptions& options)
    : rows_(std::make_unique<CsvRows>(path, options)),
      options_(options),
      first_row_waits_(!options.header) {
  CsvRows& rows = *rows_;
  if (!rows.next()) throw UserError(fmt::format("{} is empty", rows.path()));
  if (rows.cells() == 1 && is_libsvm(rows.cell(0))) {
    throw UserError(fmt::format(
        "{} is in libsvm's form, a label and index:value pairs; CSV is read here: write one column "
        "a feature, or send such rows with the client library, which takes indices and values",
        rows.path()));
  }
  for (std::size_t i = 0; i < rows.cells(); ++i) {
    const bool named = options.header && !rows.cell(i).empty();
    columns_.push_back(named ? unused_name(columns_, std::string(rows.cell(i)))
                             : std::to_string(i + 1));
  }
}

Table::~Table() = default;

const std::vector<std::string>& Table::columns() const { return columns_; }

std::size_t Table::column(std::string_view name_or_number) const {
  const auto& names = columns_;
  const auto found = std::find(names.begin(), names.end(), name_or_number);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::size_t number = 0;
  const char* end = name_or_number.data() + name_or_number.size();
  const auto parsed = std::from_chars(name_or_number.data(), end, number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == end;
  if (options_.by_number && is_number && number >= 1 && number <= names.size()) {
    return number - 1;
  }
  if (!options_.header) {
    throw UserError(
        fmt::format("{} has no column \"{}\": without a header, columns are the numbers 1 to {}",
                    rows_->path(), name_or_number, names.size()));
  }
  constexpr std::size_t kListed = 20;
  const auto listed = std::span(names).first(std::min(names.size(), kListed));
  if (!options_.by_number) {
    throw UserError(fmt::format("{} has no column \"{}\"{}; it has {}{}", rows_->path(),
                                name_or_number, did_you_mean(name_or_number, names),
                                fmt::join(listed, ", "), names.size() > kListed ? ", ..." : ""));
  }
  throw UserError(fmt::format(
      "{} has no column \"{}\"{}; it has {}{}, or the numbers 1 to {}{}", rows_->path(),
      name_or_number, did_you_mean(name_or_number, names), fmt::join(listed, ", "),
      names.size() > kListed ? ", ..." : "", names.size(),
      names.size() > 1 ? ""
                       : "; where lines stand above the names take them away, tail -n +2 FILE > "
                         "FILE.csv for one, or say which --separator it is"));
}

bool Table::row_waits() const { return first_row_waits_ || rows_->row_waits(); }

bool Table::ready_by(std::chrono::steady_clock::time_point deadline) {
  return row_waits() || rows_->ready_by(deadline);
}

bool Table::next() {
  CsvRows& rows = *rows_;
  if (std::exchange(first_row_waits_, false)) return true;
  if (!rows.next()) return false;
  if (rows.cells() != columns_.size()) {
    throw RowError(
        fmt::format("{}, line {}: {} cells, but {} are expected (separator \"{}\")", rows.path(),
                    rows.line(), rows.cells(), columns_.size(),
                    options_.separator == '\t' ? "tab" : std::string(1, options_.separator)));
  }
  return true;
}

std::string_view Table::text(std::size_t column) const { return rows_->cell(column); }

std::optional<double> Table::number(std::size_t column) const { return parse_number(text(column)); }

double Table::require_number(std::size_t column) const {
  const std::optional<double> value = number(column);
  if (!value) {
    throw UserError(fmt::format("{}: \"{}\" where a finite number is expected", place(column),
                                shortened(text(column))));
  }
  return *value;
}

std::uint64_t Table::line() const { return rows_->line(); }

std::string Table::place(std::size_t column) const {
  return fmt::format("{}, line {}, column {}", rows_->path(), line(), columns_[column]);
}

const std::string& Table::path() const { return rows_->path(); }

double Table::progress() const { return rows_->progress(); }

std::optional<double> parse_number(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

char parse_separator(std::string_view text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space") return ' ';
  if (text.size() == 1 && text[0] != '"' && text[0] != '\n' && text[0] != '\r') return text[0];
  throw UserError(
      fmt::format("separator \"{}\" is not allowed: one character, \"tab\" or \"space\"", text));
}

}  // namespace windhover
