#include "windhover/tools/client/questions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "windhover/tests/tools/served.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/question_file.h"

namespace windhover {
namespace {

using Texts = std::vector<std::string>;

Texts split(const std::string& text, char separator) {
  Texts parts;
  std::istringstream in(text);
  std::string part;
  while (std::getline(in, part, separator)) parts.push_back(part);
  return parts;
}

TEST(WhatIfs, OneOfFieldsGivenOnce) {
  const std::vector<WhatIf> one = what_ifs({"origin=ORD", "hour=8"}, 10);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].fields.at("origin"), "ORD");
  EXPECT_EQ(one[0].fields.at("hour"), "8");
  EXPECT_EQ(one[0].label, "");
}

TEST(WhatIfs, FieldsGivenSeveralTimesAreCombinedEveryWay) {
  const std::vector<WhatIf> some =
      what_ifs({"origin=ORD", "distance=800", "hour=8", "origin=A=B, C", "hour=21"}, 4);
  ASSERT_EQ(some.size(), 4U);
  EXPECT_EQ(some[0].label, "origin=ORD, hour=8");
  EXPECT_EQ(some[1].label, "origin=ORD, hour=21");
  EXPECT_EQ(some[2].label, "origin=A=B, C, hour=8");
  EXPECT_EQ(some[3].fields.at("origin"), "A=B, C");
  EXPECT_EQ(some[3].fields.at("hour"), "21");
  for (const WhatIf& one : some) EXPECT_EQ(one.fields.at("distance"), "800");
}

TEST(WhatIfs, AreRefusedWithASentence) {
  EXPECT_TRUE(says(refusal_of([] { (void)what_ifs({"origin"}, 10); }), "NAME=VALUE is expected"));
  EXPECT_TRUE(says(refusal_of([] {
                     (void)what_ifs({"a=1", "a=1"}, 10);
                   }),
                   "--set gives a=1 twice"));
  EXPECT_TRUE(says(refusal_of([] {
                     (void)what_ifs({"a=1", "a=2", "b=1", "b=2"}, 3);
                   }),
                   "asks 4 or more questions, the server answers up to 3 at a time"));
}

// A file of questions against a server that has learned.
class AnswerQuestions : public ::testing::TestWithParam<bool> {  // sparse or dense
 protected:
  AnswerQuestions()
      : schema_path_(schema_file(GetParam())),
        schema_(Schema::from_file(schema_path_)),
        served_(path_of("questions.sock"), schema_, "logistic") {
    (void)send_file(options_for(served_, schema_path_));
    connect_or_throw(client_, served_.address());
    EXPECT_TRUE(has_learned());
  }

  // Waits until the answers stand on all rows; a minute is only for a machine that is very slow.
  bool has_learned() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    std::vector<ParameterSummary> parameters;
    Provenance provenance;
    do {
      if (!ok(client_.posterior(parameters, provenance))) return false;
      if (provenance.n_seen == 3960 && provenance.status != PosteriorStatus::kWarmingUp) {
        return true;
      };
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    } while (std::chrono::steady_clock::now() < deadline);
    return false;
  }

  QuestionReport answer(const std::string& path) {
    QuestionFile file;
    file.path = path;
    file.wanted = wanted_;
    file.on_skipped = [this](const std::string& text) { skipped_.push_back(text); };
    file.on_lines = [this](std::string_view lines) { out_ += lines; };
    return answer_questions(client_, schema_, file);
  }

  std::string schema_path_;
  Schema schema_;
  Served served_;
  Client client_;
  PredictRequest wanted_;
  Texts skipped_;
  std::string out_;
};

// A file that was answered before: its old answers go, whatever stands in them.
TEST_P(AnswerQuestions, OfAnAnsweredFileTakeThePlaceOfTheOldAnswers) {
  (void)answer(file_with("questions.csv", "id,c,a\n7,u,1\n8,v,-1\n"));
  const std::string first = std::exchange(out_, {});
  ASSERT_EQ(split(first, '\n').size(), 3U);
  const QuestionReport report = answer(file_with("answered.csv", first));
  EXPECT_EQ(report.answered, 2U);
  // The numbers may be those of a newer posterior.
  const Texts lines = split(out_, '\n');
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], split(first, '\n')[0]);
  EXPECT_EQ(split(lines[1], ',').size(), split(lines[0], ',').size());
  std::string old = "answer_status,id,answer_mean_of_before,c,a\nold,7,5,u,1\n";
  out_.clear();
  (void)answer(file_with("old.csv", old));
  EXPECT_TRUE(out_.starts_with("id,answer_mean_of_before,c,a,answer_")) << out_;
  EXPECT_TRUE(split(out_, '\n')[1].starts_with("7,5,u,1,")) << out_;
}

// There are more questions than the server answers at a time; each answer is that to its own
// question.
TEST_P(AnswerQuestions, GivesEachQuestionALineWithItsCells) {
  std::string text = "id,c,a\n";
  constexpr int kQuestions = 1000;
  for (int i = 0; i < kQuestions; ++i) {
    text += std::to_string(i) + (i % 2 == 0 ? ",u," : ",v,") + std::to_string(i % 5 - 2) + "\n";
  }
  const double quantiles[] = {0.05, 0.95};
  wanted_.quantile_probabilities = quantiles;
  const QuestionReport report = answer(file_with("questions.csv", text));
  EXPECT_EQ(report.answered, 1000U);
  EXPECT_EQ(report.skipped, 0U);
  const Texts lines = split(out_, '\n');
  ASSERT_EQ(lines.size(), kQuestions + 1U);
  const Texts names = split(lines[0], ',');
  EXPECT_EQ((Texts{names.begin(), names.begin() + 3}), (Texts{"id", "c", "a"}));
  EXPECT_EQ(names.back(), "answer_status");
  const auto column = [&names](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const std::size_t mean = column("answer_epred_mean");
  ASSERT_LT(mean, names.size());
  ASSERT_LT(column("answer_quantiles_0.95"), names.size());
  EXPECT_EQ(column("answer_prob_best"), names.size());  // says nothing about a file
  for (int i = 0; i < kQuestions; ++i) {
    const Texts cells = split(lines[static_cast<std::size_t>(i) + 1], ',');
    ASSERT_EQ(cells.size(), names.size()) << lines[static_cast<std::size_t>(i) + 1];
    EXPECT_EQ(cells[0], std::to_string(i));
    const double probability = std::stod(cells[mean]);
    // Greater where a is, and for u, by the rows that were sent.
    EXPECT_EQ(probability > 0.5, i % 5 - 2 + (i % 2 == 0 ? 0.7 : -0.2) > 0)
        << lines.at(static_cast<std::size_t>(i) + 1);
  }
}

TEST(UnlistedText, SaysWhichCategoryMayHaveBeenMeant) {
  const Schema schema = Schema::from_text(
      "target = \"y\"\n[[feature]]\nfield = \"town\"\nkind = \"category\"\n"
      "categories = [\"north\", \"old town\"]\nother = \"zero\"\n",
      "houses.toml");
  EXPECT_EQ(
      unlisted_text(schema, "town", "North"),
      "town = \"North\" is not listed in houses.toml; did you mean north; answered as for any "
      "other town");
  EXPECT_EQ(unlisted_text(schema, "town", "moon"),
            "town = \"moon\" is not listed in houses.toml; answered as for any other town");
}

TEST_P(AnswerQuestions, SaysAndCountsRowsThatCannotBeRead) {
  const QuestionReport report =
      answer(file_with("unreadable.csv", "a,c\n1,u\ntwo,u\n3\n-1,\"v, \"\"w\"\"\"\n,u\n2,v\n"));
  EXPECT_EQ(report.answered, 3U);
  EXPECT_EQ(report.skipped, 3U);
  EXPECT_EQ(report.unlisted, 1U);
  ASSERT_EQ(skipped_.size(), 3U);
  EXPECT_TRUE(says(skipped_[0], "line 3, column a: \"two\" where a finite number is expected"));
  EXPECT_TRUE(says(skipped_[1], "line 4: 1 cells, but 2 are expected"));
  EXPECT_TRUE(says(skipped_[2], "line 6, column a"));
  const Texts lines = split(out_, '\n');
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[1].starts_with("1,u,"));
  EXPECT_TRUE(lines[2].starts_with("-1,\"v, \"\"w\"\"\","));
  EXPECT_TRUE(lines[3].starts_with("2,v,"));
}

TEST_P(AnswerQuestions, AnswersWhatCameBeforeAFileThatIsCutOff) {
  const QuestionReport none = answer(file_with("none.csv", "a,c\n"));
  EXPECT_EQ(none.answered, 0U);
  EXPECT_EQ(split(out_, '\n').size(), 1U);
  out_.clear();
  const std::string path = file_with("open.csv", "a,c\n1,u\n2,\"v\n" + std::string(2 << 20, 'x'));
  EXPECT_TRUE(says(refusal_of([&] { (void)answer(path); }), "1 questions before it are answered"));
  EXPECT_EQ(split(out_, '\n').size(), 2U);
}

TEST_P(AnswerQuestions, NeedTheColumnsOfTheSchema) {
  const std::string path = file_with("other.csv", "a,b\n1,2\n");
  EXPECT_TRUE(says(refusal_of([&] { (void)answer(path); }), "has no column \"c\""));
}

INSTANTIATE_TEST_SUITE_P(Rows, AnswerQuestions, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "Sparse" : "Dense"; });

}  // namespace
}  // namespace windhover
