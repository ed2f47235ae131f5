#ifndef WINDHOVER_TOOLS_DATA_TABLE_H_
#define WINDHOVER_TOOLS_DATA_TABLE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace windhover {

class CsvRows;

struct TableOptions {
  char separator = ',';
  bool header = true;     // the first row names the columns
  bool quotes = true;     // cells may be quoted; false: quotes are ordinary characters
  bool by_number = true;  // a column may also be named by its number, counted from 1
};

// How a cell that is not a finite number affects its row.
enum class MissingPolicy : std::uint8_t {
  kRefuse,  // the program ends with an error that names the place
  kSkip,    // the row is skipped and counted
};

// Reads a CSV file, plain or gzip-compressed, or a pipe ("-": standard input), row by row in
// bounded memory. Cells may be quoted, the separator is any character, lines end with LF or CRLF,
// and a byte-order mark and a final line break are optional. Blanks around unquoted cells are
// dropped and blank lines skipped. Every row must have as many cells as the first. A quoted cell
// that spans several lines and has a quote amid its text, or is never closed, is an error: its
// quotes belong to the texts, and rows would be lost in it. All errors are UserError with file and
// line. One thread.
class Table {
 public:
  // Opens the file and reads its header.
  Table(const std::string& path, const TableOptions& options);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // In the order of the file. A column without a name gets its number, counted from 1; the second
  // column of a name gets " (2)" after it.
  const std::vector<std::string>& columns() const;

  // The index of a column from 0, by its name or, when no column has that name and the options
  // allow it, by its number counted from 1.
  std::size_t column(std::string_view name_or_number) const;

  // Reads the next row; false at the end. On a pipe it waits for a whole row. RowError when the row
  // has another number of cells; the next call continues after it.
  bool next();

  // Whether next() would not wait, because a row is there or the file has ended. row_waits() looks
  // at what has been read; ready_by() reads on and waits until `deadline`.
  bool row_waits() const;
  bool ready_by(std::chrono::steady_clock::time_point deadline);

  // A cell of the current row. The text is valid until the next call of next().
  std::string_view text(std::size_t column) const;
  // Nothing when the cell is not a finite number.
  std::optional<double> number(std::size_t column) const;
  // A cell that must be a finite number.
  double require_number(std::size_t column) const;

  // The line on which the current row begins, counted from 1.
  std::uint64_t line() const;
  // "FILE, line N, column NAME" of the current row.
  std::string place(std::size_t column) const;
  const std::string& path() const;

  // The part of the file read so far, 0 to 1; 0 for a pipe until its end.
  double progress() const;

 private:
  std::unique_ptr<CsvRows> rows_;
  TableOptions options_;
  std::vector<std::string> columns_;
  bool first_row_waits_;  // without a header the first row was read to count columns
};

// The finite number that `text` consists of; blanks around it are allowed.
std::optional<double> parse_number(std::string_view text);

// "," ";" "|" and the like, or "tab".
char parse_separator(std::string_view text);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_TABLE_H_
