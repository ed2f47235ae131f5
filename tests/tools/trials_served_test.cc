// Rows of trials from a file to a server, and questions about so many.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "windhover/tests/tools/schema_fixture.h"
#include "windhover/tests/tools/served.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/questions.h"
#include "windhover/tools/error.h"

namespace windhover::trials_served_test {
namespace {

constexpr const char* kSchema =
    "target = \"bought\"\ntrials = \"visits\"\nmissing = \"skip\"\n"
    "[[feature]]\nfield = \"a\"\nkind = \"number\"\nshift = 0\nscale = 1\n";

std::string bought_of_visits() {
  std::string text = "a,visits,bought\n0,0,0\n";
  for (int i = 0; i < 900; ++i) {
    const double a = std::sin(i * 1.7);
    const int visits = 1 + i % 40;
    const double p = 1 / (1 + std::exp(-0.8 * a));
    text += std::to_string(a) + "," + std::to_string(visits) + "," +
            std::to_string(std::lround(p * visits)) + "\n";
  }
  return file_with("bought.csv", text);
}

TEST(TrialsServed, RowsOfAFileAreLearnedAndQuestionsAreAboutTheirTrials) {
  const std::string path = file_with("bought.toml", kSchema);
  const Schema schema = Schema::from_file(path);
  Served served(path_of("bought.sock"), schema, "binomial");
  SendOptions o = options_for(served, path);
  o.path = bought_of_visits();
  const SendReport report = send_file(o);
  EXPECT_EQ(report.skipped, 1U);  // the row without a visit
  EXPECT_EQ(report.totals.accepted, 900U);
  EXPECT_EQ(report.totals.refused, 0U);

  Client client;
  connect_or_throw(client, served.address());
  EXPECT_NO_THROW(check_schema(client, schema));
  EXPECT_THROW(check_schema(client, Schema::from_text(
                                        replaced(kSchema, "trials = \"visits\"\n", ""), "S.toml")),
               UserError);
  QuestionRows q;
  for (const char* visits : {"1", "1000"}) {
    q.add(schema.encode({{"a", "0.5"}, {"visits", visits}}), schema);
  }
  q.add(schema.encode({{"a", "0.5"}}), schema);
  PredictRequest request;
  q.put_into(request);
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  ASSERT_TRUE(ok(client.predict(request, answers, provenance))) << client.error_text();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_NEAR(answers[1].mean, 1000 * answers[0].mean, 1e-9);
  EXPECT_EQ(answers[2].mean, answers[0].mean);
  EXPECT_LE(answers[1].interval_upper, 1000);
}

TEST(TrialsServed, AServerOfAnotherModelRefusesTheSchema) {
  const Schema schema = Schema::from_text(kSchema, "S.toml");
  Served served(path_of("counts.sock"), schema, "poisson");
  Client client;
  connect_or_throw(client, served.address());
  EXPECT_TRUE(says(refusal_of([&] { check_schema(client, schema); }), "model.name = binomial"));
  const double x = 1;
  const double n = 5;
  ObserveRows rows{{&x, 1}, {&x, 1}, {}, {}, {}, {}, {&n, 1}};
  EXPECT_EQ(client.send_observe(rows), Status::kTrialsNotTaken);
  PredictRequest request;
  request.rows = 1;
  request.features = {&x, 1};
  request.trials = {&n, 1};
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  EXPECT_EQ(client.predict(request, answers, provenance), Status::kTrialsNotTaken);
}

}  // namespace
}  // namespace windhover::trials_served_test
