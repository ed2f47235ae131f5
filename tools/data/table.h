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
  bool quotes = true;     // a cell may be in quotes; false: they are letters like others
  bool by_number = true;  // a column may also be called by its number, counted from 1
};

// What a cell that is no finite number does to its row.
enum class MissingPolicy : std::uint8_t {
  kRefuse,  // the program ends with a sentence naming the place
  kSkip,    // the row is skipped and counted
};

// Reads a CSV file, plain or gzip-compressed, or a pipe ("-": standard input), row by row in
// bounded memory: quoted cells, any separator, LF or CRLF, with or without a byte-order mark and a
// newline at the end. Blanks around cells that are not quoted are dropped, blank lines skipped.
// Every row must have as many cells as the first. A cell in quotes that goes on over several lines
// and has a quote amid its text, or none that closes it, is an error: the quotes belonged to the
// texts, and rows would be lost in them. All errors are UserError, naming file and line. One
// thread.
class Table {
 public:
  // Opens the file and reads its header.
  Table(const std::string& path, const TableOptions& options);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // In the order of the file. A column without a name has its number, counted from 1; the second of
  // a name has " (2)" after it.
  const std::vector<std::string>& columns() const;

  // The place of a column, counted from 0, by its name or, when no column has that name and options
  // allow it, by its number counted from 1.
  std::size_t column(std::string_view name_or_number) const;

  // The next row; false at the end. On a pipe it waits for a whole row. RowError when the row has
  // another number of cells: the next call goes on behind it.
  bool next();

  // Whether next() would not wait, because a row has come or the file has ended. row_waits() looks
  // at what has been read; ready_by() reads on, and waits for that until `deadline`.
  bool row_waits() const;
  bool ready_by(std::chrono::steady_clock::time_point deadline);

  // A cell of the current row. The text is valid until the next call of next().
  std::string_view text(std::size_t column) const;
  // Nothing when the cell is empty or holds anything but a finite number.
  std::optional<double> number(std::size_t column) const;
  // A cell that must be a finite number.
  double require_number(std::size_t column) const;

  // The line on which the current row begins, counted from 1.
  std::uint64_t line() const;
  // "FILE, line N, column NAME" of the current row.
  std::string place(std::size_t column) const;
  const std::string& path() const;

  // The part of the file read so far, 0 to 1; 0 of a pipe until its end.
  double progress() const;

 private:
  std::unique_ptr<CsvRows> rows_;
  TableOptions options_;
  std::vector<std::string> columns_;
  bool first_row_waits_;  // no header: the first row was read to count the columns
};

// A finite number written in `text` and nothing else, blanks around it allowed.
std::optional<double> parse_number(std::string_view text);

// "," ";" "|" and the like, or "tab".
char parse_separator(std::string_view text);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_TABLE_H_
