// Rows of CSV as they arrive from a file or a pipe.
#ifndef WINDHOVER_TOOLS_DATA_CSV_ROWS_H_
#define WINDHOVER_TOOLS_DATA_CSV_ROWS_H_

#include <csv.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "windhover/tools/data/byte_source.h"
#include "windhover/tools/data/table.h"

namespace windhover {

// Parses chunk by chunk. Invariant: it keeps the parsed rows that were not handed out, and the
// cells of a row that the chunk ended in. Errors are UserError with file and line. One thread.
class CsvRows {
 public:
  CsvRows(const std::string& path, const TableOptions& options);
  ~CsvRows() { csv_free(&csv_); }
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  // Makes the next row the current one; false at the end.
  bool next();
  // Whether next() has a row without reading. ready_by() reads until `deadline` for a row or the
  // end.
  bool row_waits() const { return next_row_ < rows_.size(); }
  bool ready_by(std::chrono::steady_clock::time_point deadline);

  // Cells of the current row; the text is valid until next() or ready_by().
  std::size_t cells() const { return current_.cells; }
  std::string_view cell(std::size_t column) const;
  std::uint64_t line() const { return current_.line; }

  const std::string& path() const { return path_; }
  double progress() const { return source_.progress(); }

 private:
  static constexpr std::size_t kChunkBytes = 64 * 1024;

  struct Row {
    std::uint64_t line;
    std::size_t first_cell;
    std::size_t cells;
  };

  static void on_cell(void* data, std::size_t size, void* self);
  static void on_row(int line_end, void* self);
  void drop_finished_rows();
  void fill_once();
  void parse(std::string_view input);
  void refuse_lost_rows() const;
  void finish();

  ByteSource source_;
  std::string path_;
  csv_parser csv_{};
  std::array<char, kChunkBytes> chunk_{};
  bool at_begin_ = true;
  std::size_t held_ = 0;  // bytes that may be the beginning of a byte-order mark
  bool finished_ = false;

  std::string text_;
  std::vector<std::pair<std::size_t, std::size_t>> cells_;  // begin and size in the text
  std::vector<Row> rows_;
  std::size_t next_row_ = 0;
  Row current_{};
  std::size_t open_cells_ = 0;
  std::uint64_t open_line_ = 1;
  std::uint64_t line_ = 1;
  std::size_t since_row_end_ = 0;
  bool quote_amid_ = false;      // the quoted cell being read has a quote amid its text
  std::uint64_t lost_from_ = 0;  // the line of a cell that swallowed rows; 0: there is none
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_CSV_ROWS_H_
