// Rows of a file that a schema skips.
#ifndef WINDHOVER_TOOLS_DATA_SKIPPED_ROWS_H_
#define WINDHOVER_TOOLS_DATA_SKIPPED_ROWS_H_

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "windhover/tools/data/schema.h"

namespace windhover {

// Counts them and reports the first ones, once, even if the file is read again.
class SkippedRows {
 public:
  // `say` gets line, column and reason of the first kListed rows, then once that more are only
  // counted. It may be empty.
  explicit SkippedRows(std::function<void(const std::string&)> say) : say_(std::move(say)) {}

  void add(const EncodedRow::Skipped& row) {
    ++total_;
    if (!row.empty) ++unreadable_;
    if (total_ <= said_ || total_ > kListed + 1) return;
    said_ = total_;
    if (say_) say_(total_ <= kListed ? row.why : "more rows, which are only counted");
  }
  // The file will be read from its beginning again.
  void begin_again() { total_ = unreadable_ = 0; }

  std::uint64_t total() const { return total_; }
  // Those with a cell that is not empty and cannot be read.
  std::uint64_t unreadable() const { return unreadable_; }

 private:
  static constexpr std::uint64_t kListed = 5;

  std::function<void(const std::string&)> say_;
  std::uint64_t total_ = 0;
  std::uint64_t unreadable_ = 0;
  std::uint64_t said_ = 0;
};

// The last sentence of a command where rows were unreadable. `fate`: "were not sent".
inline std::string unreadable_text(std::uint64_t rows, std::string_view name,
                                   std::string_view fate) {
  return fmt::format(
      "{} rows of {} have a cell that cannot be read and {}; mend them, or say --allow-skipped",
      rows, name, fate);
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_SKIPPED_ROWS_H_
