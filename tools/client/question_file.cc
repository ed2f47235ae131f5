#include "windhover/tools/client/question_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/questions.h"
#include "windhover/tools/data/csv_cell.h"
#include "windhover/tools/data/table.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using nlohmann::ordered_json;

std::string number_text(const ordered_json& value) {
  return value.is_number() ? value.dump() : "";  // numbers that are not finite are null in JSON
}

// The names of the classes in a set, in one cell, with | between them.
std::string set_text(const ordered_json& set, const std::vector<std::string>& class_names) {
  std::string text;
  for (const auto& member : set) {
    const auto c = member.get<std::size_t>();
    if (!text.empty()) text += '|';
    text += c < class_names.size() ? class_names[c] : std::to_string(c);
  }
  return text;
}

// Calls visit(name, text) for each number of an answer. In a list the name ends with what the
// number is for where the list says so, otherwise with the class or the place.
void for_each_number(const ordered_json& answer, const std::vector<std::string>& class_names,
                     const auto& visit) {
  for (const auto& [key, value] : answer.items()) {
    if (key == "interval_probability" || key == "class_names" || key == "positive") continue;
    if (key == "conformal_set") {
      visit("answer_" + key, set_text(value, class_names));
      continue;
    }
    if (!value.is_array()) {
      visit("answer_" + key, number_text(value));
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      const ordered_json& one = value[i];
      if (one.is_object()) {
        visit(fmt::format("answer_{}_{}", key, one.begin()->dump()),
              number_text(std::next(one.begin()).value()));
      } else {
        const std::string place = i < class_names.size() ? class_names[i] : std::to_string(i);
        visit(fmt::format("answer_{}_{}", key, place), number_text(one));
      }
    }
  }
}

class Answerer {
 public:
  Answerer(Client& client, const Schema& schema, const QuestionFile& file)
      : client_(client),
        schema_(schema),
        file_(file),
        table_(file.path, schema.table_options()),
        encoder_(schema, table_, RowUse::kQuestion),
        separator_(schema.table_options().separator),
        request_(file.wanted),
        most_rows_(rows_of_a_request(client.welcome())) {
    // Parts that compare the rows of one request say nothing about a file of questions.
    request_.rows = 1;
    request_.outcomes = {};
    if (form_.model == v1::MODEL_KIND_LOGISTIC || client.welcome().classes() > 0)
      form_.class_names = schema.target_rule().class_names();
  }

  QuestionReport run() {
    write_header();
    try {
      read_and_ask();
    } catch (const UserError& error) {
      ask();
      throw UserError(
          fmt::format("{}; {} questions before it are answered", error.what(), report_.answered));
    }
    ask();
    return report_;
  }

 private:
  // As many rows as the server answers at a time and as fit into a frame.
  std::size_t rows_of_a_request(const v1::Welcome& welcome) const {
    const std::size_t numbers = request_.quantile_probabilities.size() + request_.thresholds.size();
    const std::size_t besides = 256 + 8 * numbers;
    // In a sparse row each value has an index, and the row an end, of 5 bytes at most.
    const std::size_t row =
        (schema_.sparse() ? 13 * std::size_t{schema_.max_nonzeros()} + 5 : 8 * schema_.features()) +
        (schema_.has_offset() || schema_.has_trials() ? 8 : 0);
    const std::size_t room = welcome.frame_cap() > besides ? welcome.frame_cap() - besides : 0;
    return std::clamp<std::size_t>(room / std::max<std::size_t>(row, 1), 1,
                                   std::max(welcome.max_query_rows(), 1U));
  }

  void read_and_ask() {
    EncodedRow row;
    for (;;) {
      if (rows_.rows == most_rows_ || (rows_.rows > 0 && !table_.ready_by({}))) ask();
      try {
        if (!table_.next()) return;
        encoder_.encode(table_, row);
      } catch (const RowError& error) {
        ++report_.skipped;
        if (file_.on_skipped) file_.on_skipped(error.what());
        continue;
      }
      note_unlisted(row);
      rows_.add(row, schema_);
      std::string& cells = cells_.emplace_back();
      for (const std::size_t i : kept_) {
        append_cell(cells, table_.text(i), separator_);
        cells += separator_;
      }
    }
  }

  // Notes each value once, and at most the first 20.
  void note_unlisted(const EncodedRow& row) {
    constexpr std::size_t kMostNotes = 20;
    if (row.unlisted.empty()) return;
    ++report_.unlisted;
    for (const auto& [field, value] : row.unlisted) {
      if (notes_.size() == kMostNotes || !notes_.insert(field + "=" + value).second) continue;
      if (file_.on_unlisted) {
        file_.on_unlisted(
            fmt::format("line {}: {}", table_.line(), unlisted_text(schema_, field, value)));
      }
    }
  }

  // Columns with the names of answers, from an earlier run, are replaced.
  void write_header() {
    std::vector<std::string> answers;
    PredictiveSummary shape;
    shape.classes = client_.welcome().classes();
    for_each_number(to_json(shape, form_), form_.class_names,
                    [&](const std::string& name, const std::string&) { answers.push_back(name); });
    answers.emplace_back("answer_status");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < table_.columns().size(); ++i) {
      if (std::ranges::find(answers, table_.columns()[i]) != answers.end()) continue;
      kept_.push_back(i);
      names.push_back(table_.columns()[i]);
    }
    names.insert(names.end(), answers.begin(), answers.end());
    std::string line;
    for (const std::string& name : names) {
      if (!line.empty()) line += separator_;
      append_cell(line, name, separator_);
    }
    file_.on_lines(line + '\n');
  }

  // Answers what has been read.
  void ask() {
    if (rows_.rows == 0) return;
    PredictRequest request = request_;
    rows_.put_into(request);
    Status status = client_.predict(request, summaries_, report_.provenance);
    const bool gone = status == Status::kClosed || status == Status::kTimeout;
    if (gone && ok(client_.reconnect())) {  // a server closes silent connections
      check_schema(client_, schema_);
      status = client_.predict(request, summaries_, report_.provenance);
    }
    check_reply(client_, status, "predicting");
    if (summaries_.size() != rows_.rows) {
      throw RunError(fmt::format("{} questions got {} answers", rows_.rows, summaries_.size()));
    }
    std::string lines;
    for (std::size_t i = 0; i < summaries_.size(); ++i) {
      lines += cells_[i];
      for_each_number(to_json(summaries_[i], form_), form_.class_names,
                      [&](const std::string&, const std::string& text) {
                        append_cell(lines, text, separator_);
                        lines += separator_;
                      });
      lines += to_string(report_.provenance.status);
      lines += '\n';
    }
    file_.on_lines(lines);
    report_.answered += rows_.rows;
    rows_.clear();
    cells_.clear();
  }

  Client& client_;
  const Schema& schema_;
  const QuestionFile& file_;
  Table table_;
  RowEncoder encoder_;
  char separator_;
  PredictRequest request_;  // without rows, as for one row
  AnswerForm form_{request_, client_.welcome().model()};
  std::size_t most_rows_;
  std::vector<std::size_t> kept_;   // columns of the file that are copied
  QuestionRows rows_;               // read and not yet asked
  std::vector<std::string> cells_;  // the kept cells of each row
  std::vector<PredictiveSummary> summaries_;
  QuestionReport report_;
  std::set<std::string> notes_;  // "field=value" of those noted
};

}  // namespace

QuestionReport answer_questions(Client& client, const Schema& schema, const QuestionFile& file) {
  check_schema(client, schema);
  return Answerer(client, schema, file).run();
}

}  // namespace windhover
