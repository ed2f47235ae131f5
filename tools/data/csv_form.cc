#include "windhover/tools/data/csv_form.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "windhover/tools/data/byte_source.h"
#include "windhover/tools/data/cell.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

constexpr std::size_t kSampleBytes = 256 * 1024;
constexpr std::size_t kSampleRows = 500;

std::string sample_of(const std::string& path) {
  refuse_pipe(path);
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string sample(kSampleBytes, '\0');
  const int got = file == nullptr ? -1 : gzread(file, sample.data(), kSampleBytes);
  if (file != nullptr) gzclose(file);
  sample.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return sample;  // Table reports why it cannot be read
}

void check_text(const std::string& path, const std::string& sample) {
  if (sample.starts_with("PK\x03\x04")) {
    throw UserError(fmt::format(
        "{} is a spreadsheet or a zip file; save the sheet as CSV (UTF-8) and give that", path));
  }
  if (sample.starts_with("\xFF\xFE") || sample.starts_with("\xFE\xFF")) {
    throw UserError(
        fmt::format("{} is UTF-16; write it as UTF-8 first: iconv -f utf-16 -t utf-8 "
                    "FILE > FILE.csv",
                    path));
  }
  if (sample.find('\0') != std::string::npos) {
    throw UserError(fmt::format("{} is no text; a CSV file, plain or .gz, is expected", path));
  }
}

// Cells of each row. The last row of the sample may be cut off.
std::vector<std::size_t> cells_of_rows(std::string_view sample, char separator) {
  std::vector<std::size_t> rows;
  std::size_t cells = 1;
  bool quoted = false;
  bool cell_begins = true;
  bool blank = true;
  for (std::size_t i = 0; i < sample.size() && rows.size() < kSampleRows; ++i) {
    const char c = sample[i];
    if (quoted) {
      const bool doubled = c == '"' && i + 1 < sample.size() && sample[i + 1] == '"';
      if (doubled) ++i;
      if (c == '"' && !doubled) quoted = false;
      continue;
    }
    if (c == '\n' || c == '\r') {
      if (!blank) rows.push_back(cells);
      cells = 1;
      cell_begins = blank = true;
      continue;
    }
    if (c == separator) {
      ++cells;
      cell_begins = true;
      blank = false;
      continue;
    }
    if (c == ' ') continue;
    quoted = c == '"' && cell_begins;
    cell_begins = blank = false;
  }
  if (sample.size() < kSampleBytes && !blank) rows.push_back(cells);
  return rows;
}

// Whether some quoted cell spans several lines and has a quote amid its text or is never closed,
// and hardly any cell is quoted.
bool quotes_are_letters(std::string_view sample, char separator) {
  constexpr std::size_t kFewQuoted = 10;  // less than one cell in kFewQuoted
  std::size_t cells = 1;
  std::size_t quoted = 0;
  bool swallows = false;
  bool cell_begins = true;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const char c = sample[i];
    if (c != '"' || !cell_begins) {
      const bool ended = c == separator || c == '\n';
      if (ended) ++cells;
      cell_begins = ended || c == '\r' || (c == ' ' && cell_begins);
      continue;
    }
    ++quoted;
    cell_begins = false;
    bool lines = false;
    bool amid = false;
    bool closed = false;
    for (++i; i < sample.size() && !closed; ++i) {
      lines = lines || sample[i] == '\n';
      if (sample[i] != '"') continue;
      if (i + 1 < sample.size() && sample[i + 1] == '"') {
        ++i;
        continue;
      }
      const std::size_t next = std::min(sample.find_first_not_of(' ', i + 1), sample.size());
      closed = next == sample.size() || sample[next] == separator || sample[next] == '\n' ||
               sample[next] == '\r';
      amid = amid || !closed;
    }
    --i;  // at the closing quote
    const bool open = !closed && sample.size() < kSampleBytes;
    swallows = swallows || (lines && (amid || open));
  }
  return swallows && kFewQuoted * quoted < cells;
}

char separator_of(std::string_view sample) {
  constexpr std::array<char, 5> kCandidates = {'\t', ';', '|', ',', ' '};
  constexpr double kLeastShare = 0.8;  // of the rows; the others are then refused by line
  char best = ',';
  double best_share = kLeastShare;
  for (const char candidate : kCandidates) {
    const std::vector<std::size_t> rows = cells_of_rows(sample, candidate);
    std::map<std::size_t, std::size_t> counts;
    for (const std::size_t cells : rows) ++counts[cells];
    for (const auto& [cells, count] : counts) {
      const double share = static_cast<double>(count) / static_cast<double>(rows.size());
      if (cells < 2 || share <= best_share) continue;
      best = candidate;
      best_share = share;
    }
  }
  return best;
}

bool is_value(std::string_view text) {
  for (const Reads reads : {Reads::kNumber, Reads::kYearMonthDay, Reads::kDayMonthYear,
                            Reads::kMonthDayYear, Reads::kTime}) {
    if (read_cell(text, reads, {})) return true;
  }
  return parse_adorned(text, '.').has_value() || parse_adorned(text, ',').has_value();
}

bool has_header(const std::string& path, TableOptions form, std::string_view target) {
  form.header = false;
  Table table(path, form);
  const std::size_t columns = table.columns().size();
  std::vector<std::string> first;
  std::vector<bool> values(columns, true);   // below the first row: all texts are values
  std::vector<bool> filled(columns, false);  // below the first row: there is a text
  bool repeated = false;
  try {
    for (std::size_t row = 0; row < kSampleRows && table.next(); ++row) {
      for (std::size_t j = 0; j < columns; ++j) {
        const std::string_view text = table.text(j);
        if (row == 0) {
          first.emplace_back(text);
          continue;
        }
        if (is_missing_text(text)) continue;
        filled[j] = true;
        values[j] = values[j] && is_value(text);
        repeated = repeated || text == first[j];
      }
    }
  } catch (const UserError&) {
    // A row of another width is reported when the rows are read.
  }
  const auto number = parse_number(target);
  const bool is_place = number && *number >= 1 && *number <= static_cast<double>(columns);
  if (!is_place && std::ranges::find(first, target) != first.end()) return true;
  if (std::ranges::any_of(first, is_value)) return false;
  for (std::size_t j = 0; j < columns; ++j) {
    if (filled[j] && values[j] && !is_missing_text(first[j])) return true;
  }
  return !repeated;
}

}  // namespace

TableOptions detect_form(const std::string& path, std::optional<char> separator,
                         std::optional<bool> header, std::string_view target) {
  const std::string sample = sample_of(path);
  check_text(path, sample);
  TableOptions form;
  form.separator = separator ? *separator : separator_of(sample);
  form.quotes = !quotes_are_letters(sample, form.separator);
  form.header = header ? *header : has_header(path, form, target);
  return form;
}

bool is_utf8(std::string_view text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

void check_encoding(const std::string& path, std::string_view text) {
  if (is_utf8(text)) return;
  // Of the usual encodings with a byte per character only that of Windows has printable characters
  // there, such as the euro sign.
  const bool windows = std::ranges::any_of(text, [](char c) { return (c & '\xE0') == '\x80'; });
  using nlohmann::json;
  throw UserError(fmt::format(
      "{}: {} is not UTF-8; convert the file first, for example with iconv -f {} -t utf-8 FILE > "
      "FILE.csv",
      path, json(text).dump(-1, ' ', true, json::error_handler_t::replace),
      windows ? "cp1252" : "latin1"));
}

}  // namespace windhover
