#include "windhover/tools/kept/export_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "windhover/io/durable/error_text.h"
#include "windhover/runtime/window/packed_rows.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/checkpoint_contents.h"
#include "windhover/tools/kept/kept_log.h"
#include "windhover/tools/kept/kept_text.h"

namespace windhover {
namespace {

constexpr std::size_t kWriteAt = 1 << 16;  // bytes of text that are written at once

void append_name(std::string& line, std::string_view name) {
  if (name.find_first_of("\",\r\n") == std::string_view::npos) {
    line += name;
    return;
  }
  line += '"';
  for (const char letter : name) line.append(letter == '"' ? 2 : 1, letter);
  line += '"';
}

// The limit of columns, because a line has a cell for every column, sparse or not.
constexpr std::uint32_t kMostColumnsOfCsv = 65'536;

// The contents of the newest readable checkpoint, which has the layout of rows and the fingerprint
// of the schema.
CheckpointContents newest_contents(KeptFolder& folder) {
  std::string why;
  std::vector<std::uint64_t> numbers = folder.checkpoints();
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    Result<CheckpointReader> reader = folder.open(*number);
    if (reader.ok()) return read_contents(reader.value());
    why = error_text(reader.error());
  }
  throw RunError(
      fmt::format("{}: how rows lie in the log stands in a checkpoint, and none is good{}",
                  folder.path(), why.empty() ? "" : ": " + why));
}

std::vector<std::string> column_names(const std::string& path, const CheckpointContents& contents) {
  const RowLayout layout = contents.layout();
  if (layout.features() > kMostColumnsOfCsv) {
    throw UserError(fmt::format("the rows have {} columns; a file of them has at most {}",
                                layout.features(), kMostColumnsOfCsv));
  }
  std::vector<std::string> names;
  if (path.empty()) {
    for (std::uint32_t j = 1; j <= layout.features(); ++j) names.push_back(fmt::format("x{}", j));
    names.emplace_back("y");
    if (layout.has_offset()) names.emplace_back("offset");
    if (layout.has_trials()) names.emplace_back("trials");
    if (layout.has_weight()) names.emplace_back("weight");
    return names;
  }
  const Schema schema = Schema::from_file(path);
  const std::uint64_t expected = contents.field("schema");
  if (schema.features() != layout.features() ||
      (expected != 0 && expected != schema.fingerprint())) {
    throw UserError(
        fmt::format("{} is another schema than that of the log, whose rows have {} features", path,
                    layout.features()));
  }
  names = schema.feature_names();
  names.push_back(schema.target());
  if (layout.has_offset()) names.emplace_back("offset");
  if (layout.has_trials()) names.push_back(schema.target_rule().trials.value_or("trials"));
  if (layout.has_weight()) names.emplace_back("weight");
  return names;
}

class CsvWriter {
 public:
  CsvWriter(std::FILE* out, const RowLayout& layout)
      : out_(out), layout_(layout), rows_(layout), row_(layout.stride()) {}

  void header(const std::vector<std::string>& names) {
    text_ = "row,producer,sequence";
    for (const std::string& name : names) {
      text_ += ',';
      append_name(text_, name);
    }
    text_ += '\n';
  }

  // Appends the rows of a frame that are in [from, to).
  void frame(const LoggedFrame& frame, std::span<const std::byte> payload, std::uint64_t from,
             std::uint64_t to) {
    const std::uint64_t rows = frame.accepted + frame.refused + frame.duplicate;
    const bool numbered = frame.producer != 0 && frame.refused == 0;
    const std::uint64_t first = frame.next - rows + frame.duplicate;
    for (std::uint64_t i = 0; i < frame.accepted; ++i) {
      const std::size_t bytes = rows_.first_row(payload);
      if (bytes == 0 || !ok(rows_.unpack(payload, row_.data()))) {
        throw RunError(fmt::format("row {} of the log has another form than the checkpoint says",
                                   grouped(frame.head + i)));
      }
      payload = payload.subspan(bytes);
      const std::uint64_t row = frame.head + i;
      if (row < from || row >= to) continue;
      fmt::format_to(std::back_inserter(text_), "{},{},", row, frame.producer);
      if (numbered) fmt::format_to(std::back_inserter(text_), "{}", first + i);
      values();
    }
    if (text_.size() >= kWriteAt) flush();
  }

  void flush() {
    if (std::fwrite(text_.data(), 1, text_.size(), out_) != text_.size() ||
        std::fflush(out_) != 0) {
      throw RunError(fmt::format("the rows cannot be written: {}", std::strerror(errno)));
    }
    text_.clear();
  }

 private:
  void values() {
    const auto put = [&](double value) { fmt::format_to(std::back_inserter(text_), ",{}", value); };
    if (!layout_.sparse()) {
      for (std::uint32_t j = 0; j < layout_.features(); ++j) put(row_[j]);
    } else {
      const SparseRow sparse(layout_, row_.data());
      std::uint32_t next = 0;
      for (std::size_t k = 0; k < sparse.count; ++k) {
        for (; next < sparse.indices[k]; ++next) text_ += ",0";
        put(sparse.values[k]);
        ++next;
      }
      for (; next < layout_.features(); ++next) text_ += ",0";
    }
    put(row_[layout_.target_index()]);
    if (layout_.has_offset()) put(layout_.offset(row_.data()));
    if (layout_.has_trials()) put(layout_.trials(row_.data()));
    if (layout_.has_weight()) put(layout_.weight(row_.data()));
    text_ += '\n';
  }

  std::FILE* out_;
  RowLayout layout_;
  PackedRows rows_;
  std::vector<double> row_;
  std::string text_;
};

}  // namespace

std::uint64_t export_rows(KeptFolder& folder, const ExportOptions& options, std::FILE* out,
                          const std::function<void(std::uint64_t row)>& progress) {
  const std::optional<LogIdentity> identity = folder.log_identity();
  if (!identity) throw UserError(folder.path() + " holds no log, only checkpoints");
  if (options.from && options.to && *options.from > *options.to) {
    throw UserError(fmt::format("--from {} is behind --to {}", *options.from, *options.to));
  }
  const CheckpointContents contents = newest_contents(folder);
  CsvWriter csv(out, contents.layout());
  csv.header(column_names(options.schema, contents));
  const std::uint64_t to = options.to.value_or(UINT64_MAX);
  KeptLog log(folder, *identity, std::nullopt);
  LoggedFrame frame;
  std::span<const std::byte> payload;
  std::uint64_t written = 0;
  std::uint64_t end = identity->first_head;
  for (bool first = true; end < to && log.next(frame, payload); first = false) {
    if (first && options.from && *options.from < frame.head) {
      throw UserError(fmt::format("the log begins at row {}: --from {} is no longer in it",
                                  frame.head, *options.from));
    }
    const std::uint64_t from = std::max(options.from.value_or(0), frame.head);
    end = frame.head + frame.accepted;
    if (from >= end) continue;
    csv.frame(frame, payload, from, to);
    written += std::min(end, to) - from;
    progress(end);
  }
  const std::uint64_t wanted = std::max(options.from.value_or(0), options.to.value_or(0));
  if (wanted > end) {
    throw UserError(fmt::format("the log ends at row {}: {} is beyond it", end, wanted));
  }
  csv.flush();
  return written;
}

}  // namespace windhover
