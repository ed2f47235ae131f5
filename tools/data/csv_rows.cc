#include "windhover/tools/data/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

// A quote that is never closed would otherwise collect the rest of the file into one cell.
constexpr std::size_t kMaxRowBytes = 1 << 20;

}  // namespace

CsvRows::CsvRows(const std::string& path, const TableOptions& options)
    : source_(path), path_(source_.name()) {
  // CSV_REPALL_NL reports every line end, which is what line numbers are counted from.
  if (csv_init(&csv_, CSV_REPALL_NL) != 0) throw RunError("no memory for the CSV parser");
  csv_set_delim(&csv_, static_cast<unsigned char>(options.separator));
  if (!options.quotes) csv_set_quote(&csv_, '\0');
}

void CsvRows::on_cell(void* data, std::size_t size, void* self) {
  auto& p = *static_cast<CsvRows*>(self);
  const auto* begin = static_cast<const char*>(data);
  if (p.open_cells_ == 0) p.open_line_ = p.line_;
  p.cells_.emplace_back(p.text_.size(), size);
  p.text_.append(begin, size);
  const auto lines = static_cast<std::uint64_t>(std::count(begin, begin + size, '\n'));
  if (std::exchange(p.quote_amid_, false) && lines > 0) p.lost_from_ = p.line_;
  p.line_ += lines;
  p.since_row_end_ = 0;
  ++p.open_cells_;
}

void CsvRows::on_row(int line_end, void* self) {
  auto& p = *static_cast<CsvRows*>(self);
  // A line of blanks arrives as one empty cell.
  const bool blank = p.open_cells_ == 0 || (p.open_cells_ == 1 && p.cells_.back().second == 0);
  if (!blank) {
    p.rows_.push_back({p.open_line_, p.cells_.size() - p.open_cells_, p.open_cells_});
  } else {
    p.cells_.resize(p.cells_.size() - p.open_cells_);
  }
  p.open_cells_ = 0;
  p.since_row_end_ = 0;
  if (line_end == '\n') ++p.line_;
}

// Keeps the cells of an unfinished row and drops those of rows handed out.
void CsvRows::drop_finished_rows() {
  const std::size_t kept = cells_.size() - open_cells_;
  const std::size_t text_begin = open_cells_ > 0 ? cells_[kept].first : text_.size();
  text_.erase(0, text_begin);
  cells_.erase(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(kept));
  for (auto& cell : cells_) cell.first -= text_begin;
  rows_.clear();
  next_row_ = 0;
}

// Reads and parses once; waits while there is nothing.
void CsvRows::fill_once() {
  const std::size_t bytes = source_.read_some(std::span(chunk_).subspan(held_));
  if (!source_.trouble().empty()) {
    throw UserError(
        fmt::format("{} is damaged or cut off after line {}: {}", path_, line_, source_.trouble()));
  }
  std::string_view input(chunk_.data(), held_ + bytes);
  if (at_begin_) {
    // Before a quote the mark would make the quote a part of the cell. A pipe may deliver it in
    // pieces.
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    const bool undecided = input.size() < kByteOrderMark.size() && !source_.finished();
    if (undecided && kByteOrderMark.starts_with(input)) {
      held_ = input.size();
      return;
    }
    if (input.starts_with(kByteOrderMark)) input.remove_prefix(kByteOrderMark.size());
    at_begin_ = false;
    held_ = 0;
  }
  since_row_end_ += input.size();
  parse(input);
  if (since_row_end_ > kMaxRowBytes || text_.size() > kMaxRowBytes + kChunkBytes) {
    throw UserError(fmt::format("{}, line {}: a row longer than {} bytes; is a quote left open?",
                                path_, line_, kMaxRowBytes));
  }
  if (source_.finished()) finish();
}

// Parses strictly. Where that stops at a quote amid the text of a quoted cell, one character is
// parsed leniently.
void CsvRows::parse(std::string_view input) {
  while (!input.empty()) {
    csv_set_opts(&csv_, CSV_REPALL_NL | CSV_STRICT);
    std::size_t parsed = csv_parse(&csv_, input.data(), input.size(), &on_cell, &on_row, this);
    if (parsed < input.size() && csv_error(&csv_) == CSV_EPARSE) {
      quote_amid_ = quote_amid_ || csv_.quoted != 0;
      csv_set_opts(&csv_, CSV_REPALL_NL);
      csv_.status = CSV_SUCCESS;
      parsed += csv_parse(&csv_, &input[parsed], 1, &on_cell, &on_row, this);
    }
    if (parsed == 0) {
      throw UserError(fmt::format("{}, line {}: {}", path_, line_, csv_strerror(csv_error(&csv_))));
    }
    refuse_lost_rows();
    input.remove_prefix(parsed);
  }
}

void CsvRows::refuse_lost_rows() const {
  if (lost_from_ == 0) return;
  throw UserError(fmt::format(
      "{}, line {}: a cell that begins with a quote goes on over several lines and has quotes "
      "amid "
      "its text, or none that closes it; where quotes are a part of the texts say quotes = false "
      "in the schema",
      path_, lost_from_));
}

// A quote still open at the end may have swallowed rows.
void CsvRows::finish() {
  finished_ = true;
  csv_set_opts(&csv_, CSV_REPALL_NL | CSV_STRICT | CSV_STRICT_FINI);
  if (csv_fini(&csv_, &on_cell, &on_row, this) != 0) {
    const auto* begin = reinterpret_cast<const char*>(csv_.entry_buf);
    if (std::count(begin, begin + csv_.entry_pos, '\n') > 0) lost_from_ = line_;
    csv_set_opts(&csv_, CSV_REPALL_NL);
    csv_fini(&csv_, &on_cell, &on_row, this);
  }
  refuse_lost_rows();
}

bool CsvRows::ready_by(std::chrono::steady_clock::time_point deadline) {
  if (row_waits() || finished_) return true;
  drop_finished_rows();
  while (rows_.empty() && !finished_) {
    if (!source_.wait_until(deadline)) return false;
    fill_once();
  }
  return true;
}

bool CsvRows::next() {
  if (!row_waits()) drop_finished_rows();
  while (rows_.empty() && !finished_) fill_once();
  if (rows_.empty()) return false;
  current_ = rows_[next_row_++];
  return true;
}

std::string_view CsvRows::cell(std::size_t column) const {
  const auto& [begin, size] = cells_[current_.first_cell + column];
  return {text_.data() + begin, size};
}

}  // namespace windhover
