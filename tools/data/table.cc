#include "windhover/tools/data/table.h"

#include <csv.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "windhover/tools/data/byte_source.h"
#include "windhover/tools/data/nearest.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;
// A quote that is never closed would otherwise collect the rest of the file into one cell.
constexpr std::size_t kMaxRowBytes = 1 << 20;

std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
}

// Names are what columns are asked for by.
std::string unused_name(const std::vector<std::string>& names, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; std::ranges::find(names, name) != names.end(); ++number) {
    name = fmt::format("{} ({})", wanted, number);
  }
  return name;
}

// "1 3:0.5 7:1.2": a label, then places and values of what is not 0.
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

// Parses a chunk at a time; the rows of one chunk wait in `text`, `cells` and `rows`.
struct Table::Parser {
  struct Row {
    std::uint64_t line;
    std::size_t first_cell;
    std::size_t cells;
  };

  Parser(const std::string& file_path, const TableOptions& table_options)
      : source(file_path), path(source.name()), options(table_options) {
    // CSV_REPALL_NL reports every line end, which is what line numbers are counted from.
    if (csv_init(&csv, CSV_REPALL_NL) != 0) throw RunError("no memory for the CSV parser");
    csv_set_delim(&csv, static_cast<unsigned char>(options.separator));
    if (!options.quotes) csv_set_quote(&csv, '\0');
  }

  ~Parser() { csv_free(&csv); }

  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  static void on_cell(void* data, std::size_t size, void* self) {
    auto& p = *static_cast<Parser*>(self);
    const auto* begin = static_cast<const char*>(data);
    if (p.open_cells == 0) p.open_line = p.line;
    p.cells.emplace_back(p.text.size(), size);
    p.text.append(begin, size);
    const auto lines = static_cast<std::uint64_t>(std::count(begin, begin + size, '\n'));
    if (std::exchange(p.quote_amid, false) && lines > 0) p.lost_from = p.line;
    p.line += lines;
    p.since_row_end = 0;
    ++p.open_cells;
  }

  static void on_row(int line_end, void* self) {
    auto& p = *static_cast<Parser*>(self);
    // A line of blanks arrives as one empty cell.
    const bool blank = p.open_cells == 0 || (p.open_cells == 1 && p.cells.back().second == 0);
    if (!blank) {
      p.rows.push_back({p.open_line, p.cells.size() - p.open_cells, p.open_cells});
    } else {
      p.cells.resize(p.cells.size() - p.open_cells);
    }
    p.open_cells = 0;
    p.since_row_end = 0;
    if (line_end == '\n') ++p.line;
  }

  // Keeps the cells of a row that the last chunk left open, forgets those handed out.
  void drop_finished_rows() {
    const std::size_t kept = cells.size() - open_cells;
    const std::size_t text_begin = open_cells > 0 ? cells[kept].first : text.size();
    text.erase(0, text_begin);
    cells.erase(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(kept));
    for (auto& cell : cells) cell.first -= text_begin;
    rows.clear();
    next_row = 0;
  }

  // Reads and parses once, waiting where nothing has come.
  void fill_once() {
    const std::size_t bytes = source.read_some(std::span(chunk).subspan(held));
    if (!source.trouble().empty()) {
      throw UserError(
          fmt::format("{} is damaged or cut off after line {}: {}", path, line, source.trouble()));
    }
    std::string_view input(chunk.data(), held + bytes);
    if (at_begin) {
      // Before a quote the mark would make the quote a part of the cell. Of a pipe it may come in
      // pieces.
      constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
      const bool undecided = input.size() < kByteOrderMark.size() && !source.finished();
      if (undecided && kByteOrderMark.starts_with(input)) {
        held = input.size();
        return;
      }
      if (input.starts_with(kByteOrderMark)) input.remove_prefix(kByteOrderMark.size());
      at_begin = false;
      held = 0;
    }
    since_row_end += input.size();
    parse(input);
    if (since_row_end > kMaxRowBytes || text.size() > kMaxRowBytes + kChunkBytes) {
      throw UserError(fmt::format("{}, line {}: a row longer than {} bytes; is a quote left open?",
                                  path, line, kMaxRowBytes));
    }
    if (source.finished()) finish();
  }

  // Strictly, and where that finds a quote amid the text of a cell in quotes, which then goes on,
  // one letter as it is.
  void parse(std::string_view input) {
    while (!input.empty()) {
      csv_set_opts(&csv, CSV_REPALL_NL | CSV_STRICT);
      std::size_t parsed = csv_parse(&csv, input.data(), input.size(), &on_cell, &on_row, this);
      if (parsed < input.size() && csv_error(&csv) == CSV_EPARSE) {
        quote_amid = quote_amid || csv.quoted != 0;
        csv_set_opts(&csv, CSV_REPALL_NL);
        csv.status = CSV_SUCCESS;
        parsed += csv_parse(&csv, &input[parsed], 1, &on_cell, &on_row, this);
      }
      if (parsed == 0) {
        throw UserError(fmt::format("{}, line {}: {}", path, line, csv_strerror(csv_error(&csv))));
      }
      refuse_lost_rows();
      input.remove_prefix(parsed);
    }
  }

  void refuse_lost_rows() const {
    if (lost_from == 0) return;
    throw UserError(fmt::format(
        "{}, line {}: a cell that begins with a quote goes on over several lines and has quotes "
        "amid "
        "its text, or none that closes it; where quotes are a part of the texts say quotes = false "
        "in the schema",
        path, lost_from));
  }

  // A quote that is still open may have rows behind it.
  void finish() {
    finished = true;
    csv_set_opts(&csv, CSV_REPALL_NL | CSV_STRICT | CSV_STRICT_FINI);
    if (csv_fini(&csv, &on_cell, &on_row, this) != 0) {
      const auto* begin = reinterpret_cast<const char*>(csv.entry_buf);
      if (std::count(begin, begin + csv.entry_pos, '\n') > 0) lost_from = line;
      csv_set_opts(&csv, CSV_REPALL_NL);
      csv_fini(&csv, &on_cell, &on_row, this);
    }
    refuse_lost_rows();
  }

  bool row_waits() const { return next_row < rows.size(); }

  bool ready_by(std::chrono::steady_clock::time_point deadline) {
    if (row_waits() || finished) return true;
    drop_finished_rows();
    while (rows.empty() && !finished) {
      if (!source.wait_until(deadline)) return false;
      fill_once();
    }
    return true;
  }

  bool next() {
    if (!row_waits()) drop_finished_rows();
    while (rows.empty() && !finished) fill_once();
    if (rows.empty()) return false;
    current = rows[next_row++];
    return true;
  }

  std::string_view cell(std::size_t column) const {
    const auto& [begin, size] = cells[current.first_cell + column];
    return {text.data() + begin, size};
  }

  ByteSource source;
  std::string path;
  TableOptions options;
  csv_parser csv{};
  std::array<char, kChunkBytes> chunk{};
  bool at_begin = true;
  std::size_t held = 0;  // bytes of a mark that may go on
  bool finished = false;

  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> cells;  // begin and size in `text`
  std::vector<Row> rows;
  std::size_t next_row = 0;
  Row current{};
  std::size_t open_cells = 0;
  std::uint64_t open_line = 1;
  std::uint64_t line = 1;
  std::size_t since_row_end = 0;
  bool quote_amid = false;      // of the cell in quotes that is being read
  std::uint64_t lost_from = 0;  // the line of a cell that swallowed others; 0: none has

  std::vector<std::string> columns;
  bool first_row_waits = false;  // no header: the first row was read to count the columns
};

Table::Table(const std::string& path, const TableOptions& options)
    : parser_(std::make_unique<Parser>(path, options)) {
  Parser& p = *parser_;
  if (!p.next()) throw UserError(fmt::format("{} is empty", p.path));
  if (p.current.cells == 1 && is_libsvm(p.cell(0))) {
    throw UserError(fmt::format(
        "{} is in libsvm's form, a label and index:value pairs; CSV is read here: write one column "
        "a feature, or send such rows with the client library, which takes indices and values",
        p.path));
  }
  for (std::size_t i = 0; i < p.current.cells; ++i) {
    const bool named = options.header && !p.cell(i).empty();
    p.columns.push_back(named ? unused_name(p.columns, std::string(p.cell(i)))
                              : std::to_string(i + 1));
  }
  p.first_row_waits = !options.header;
}

Table::~Table() = default;

const std::vector<std::string>& Table::columns() const { return parser_->columns; }

std::size_t Table::column(std::string_view name_or_number) const {
  const auto& names = parser_->columns;
  const auto found = std::find(names.begin(), names.end(), name_or_number);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::size_t number = 0;
  const char* end = name_or_number.data() + name_or_number.size();
  const auto parsed = std::from_chars(name_or_number.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end && number >= 1 && number <= names.size()) {
    return number - 1;
  }
  if (!parser_->options.header) {
    throw UserError(
        fmt::format("{} has no column \"{}\": without a header, columns are the numbers 1 to {}",
                    parser_->path, name_or_number, names.size()));
  }
  constexpr std::size_t kListed = 20;
  const auto listed = std::span(names).first(std::min(names.size(), kListed));
  throw UserError(fmt::format(
      "{} has no column \"{}\"{}; it has {}{}, or the numbers 1 to {}{}", parser_->path,
      name_or_number, did_you_mean(name_or_number, names), fmt::join(listed, ", "),
      names.size() > kListed ? ", ..." : "", names.size(),
      names.size() > 1 ? ""
                       : "; where lines stand above the names take them away, tail -n +2 FILE > "
                         "FILE.csv for one, or say which --separator it is"));
}

bool Table::row_waits() const { return parser_->first_row_waits || parser_->row_waits(); }

bool Table::ready_by(std::chrono::steady_clock::time_point deadline) {
  return row_waits() || parser_->ready_by(deadline);
}

bool Table::next() {
  Parser& p = *parser_;
  if (std::exchange(p.first_row_waits, false)) return true;
  if (!p.next()) return false;
  if (p.current.cells != p.columns.size()) {
    throw RowError(
        fmt::format("{}, line {}: {} cells, but {} are expected (separator \"{}\")", p.path,
                    p.current.line, p.current.cells, p.columns.size(),
                    p.options.separator == '\t' ? "tab" : std::string(1, p.options.separator)));
  }
  return true;
}

std::string_view Table::text(std::size_t column) const { return parser_->cell(column); }

std::optional<double> Table::number(std::size_t column) const { return parse_number(text(column)); }

double Table::require_number(std::size_t column) const {
  const std::optional<double> value = number(column);
  if (!value) {
    throw UserError(fmt::format("{}: \"{}\" where a finite number is expected", place(column),
                                shortened(text(column))));
  }
  return *value;
}

std::uint64_t Table::line() const { return parser_->current.line; }

std::string Table::place(std::size_t column) const {
  return fmt::format("{}, line {}, column {}", parser_->path, line(), parser_->columns[column]);
}

const std::string& Table::path() const { return parser_->path; }

double Table::progress() const { return parser_->source.progress(); }

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
