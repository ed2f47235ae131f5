// The commands against a server in this process.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tests/tools/served.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/compare.h"
#include "windhover/tools/client/send.h"
#include "windhover/tools/fit/reference.h"

namespace windhover {
namespace {

using namespace std::chrono_literals;

class SendFile : public ::testing::TestWithParam<bool> {};  // sparse or dense

TEST_P(SendFile, AccountsForEveryRow) {
  const std::string schema = schema_file(GetParam());
  Served served(path_of("send.sock"), Schema::from_file(schema), "logistic");
  SendOptions o = options_for(served, schema);
  o.score_every = 10;
  double part = 0;
  o.on_progress = [&part](double p, const std::string&) { part = p; };
  const SendReport report = send_file(o);
  EXPECT_TRUE(report.adds_up());
  EXPECT_EQ(report.skipped, 40U);
  EXPECT_EQ(report.totals.sent, 3960U);
  EXPECT_EQ(report.totals.accepted, 3960U);
  EXPECT_EQ(served.engine().head(), 3960U);
  EXPECT_EQ(report.score->count(), 396U);
  EXPECT_EQ(part, 1.0);
  EXPECT_TRUE(says(report.closing_line(), "sent 3960 = accepted 3960 + refused 0 + duplicate 0"));
}

INSTANTIATE_TEST_SUITE_P(Rows, SendFile, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "Sparse" : "Dense"; });

// The rows before a bad one have been learned: the refusal says how many.
TEST(SendFileRefused, AccountsForTheRowsBeforeABadOne) {
  const std::string schema =
      file_with("strict.toml",
                "target = \"y\"\n[[feature]]\nfield = \"a\"\nkind = \"number\"\n"
                "shift = 0\nscale = 1\n");
  Served served(path_of("bad.sock"), Schema::from_file(schema), "logistic");
  SendOptions o = options_for(served, schema);
  o.path = file_with("bad.csv", "a,c,y\n1,u,0\n2,v,1\nthree,u,1\n4,u,1\n");
  const std::string refusal = refusal_of([&] { (void)send_file(o); });
  EXPECT_TRUE(says(refusal, "line 4")) << refusal;
  EXPECT_TRUE(says(refusal, "sent 2 = accepted 2")) << refusal;
  EXPECT_EQ(served.engine().head(), 2U);
}

TEST(SendFileRefused, TakesAnEmptyTargetForMissing) {
  const std::string schema =
      file_with("positive.toml",
                "target = \"y\"\npositive = \"yes\"\nmissing = \"skip\"\n"
                "[[feature]]\nfield = \"a\"\nkind = \"number\"\nshift = 0\nscale = 1\n");
  Served served(path_of("empty.sock"), Schema::from_file(schema), "logistic");
  SendOptions o = options_for(served, schema);
  std::string note;
  o.on_note = [&note](const std::string& text) { note += text; };
  o.path = file_with("empty.csv", "a,y\n1,\n2,Yes\n3,no\n");
  const SendReport report = send_file(o);
  EXPECT_EQ(report.skipped, 1U);
  EXPECT_EQ(report.totals.accepted, 2U);
  EXPECT_TRUE(says(note, "no row's target was \"yes\"")) << note;
}

// What is empty the schema says to skip; what cannot be read is a fault of the file.
TEST(SendFileSkips, SayLineAndColumnAndTellEmptyFromUnreadable) {
  const std::string schema = schema_file(false);
  Served served(path_of("skips.sock"), Schema::from_file(schema), "logistic");
  SendOptions o = options_for(served, schema);
  std::vector<std::string> said;
  o.on_skipped = [&said](const std::string& text) { said.push_back(text); };
  o.path = file_with("skips.csv", "a,c,y\n1,u,0\n2,v,\ntwo,u,1\n3,u,maybe\n4,u,1\n");
  const SendReport report = send_file(o);
  EXPECT_EQ(report.totals.accepted, 2U);
  EXPECT_EQ(report.skipped, 3U);
  EXPECT_EQ(report.unreadable, 2U);
  ASSERT_EQ(said.size(), 3U);
  EXPECT_TRUE(says(said[0], "line 3, column y: \"\" where")) << said[0];
  EXPECT_TRUE(says(said[1], "line 4, column a: \"two\" where")) << said[1];
  EXPECT_TRUE(says(said[2], "line 5, column y: \"maybe\" where")) << said[2];
  EXPECT_TRUE(says(report.skipped_text("f.csv"), "2 rows of f.csv"));
  EXPECT_TRUE(says(report.closing_line(), "3 rows of the file skipped, 2 of them unreadable;"));

  std::string rows = "a,c,y\n";
  for (int i = 0; i < 20; ++i) rows += "1,u,\n";
  o.path = file_with("empty.csv", rows);
  said.clear();
  const SendReport none = send_file(o);
  EXPECT_EQ(none.unreadable, 0U);
  EXPECT_TRUE(says(none.skipped_text("f.csv"), "every row of f.csv"));
  ASSERT_EQ(said.size(), 6U) << "the first five, and that there are more";
  EXPECT_TRUE(says(said[5], "only counted"));
}

TEST(SendFileRefused, CountsRowsOutsideTheDomain) {
  const std::string schema = schema_file(false, "");
  Served served(path_of("refused.sock"), Schema::from_file(schema), "logistic");
  SendOptions o = options_for(served, schema);
  o.path = file_with("domain.csv", "a,c,y\n1,u,0\n2,v,7\n3,u,1\n");
  const SendReport report = send_file(o);
  EXPECT_TRUE(report.adds_up());
  EXPECT_EQ(report.totals.refused, 1U);
  ASSERT_EQ(report.refused.size(), 1U);
  EXPECT_EQ(report.refused[0].row, 1U);
  EXPECT_EQ(report.refused[0].reason, Status::kTargetOutOfDomain);
}

TEST(CheckSchema, RefusesOneOfAnotherShape) {
  const std::string dense = schema_file(false);
  Served served(path_of("shape.sock"), Schema::from_file(dense), "logistic");
  SendOptions o = options_for(served, schema_file(true));
  EXPECT_TRUE(says(refusal_of([&] { (void)send_file(o); }), "sparse rows, the server takes dense"));
  o.schema =
      schema_file(false, "[[feature]]\nfield = \"y\"\nkind = \"number\"\nshift = 0\nscale = 1\n");
  EXPECT_TRUE(says(refusal_of([&] { (void)send_file(o); }), "4 features, the server's model 3"));
  o.batch = 0;
  EXPECT_TRUE(says(refusal_of([&] { (void)send_file(o); }), "--batch 0"));
}

TEST(ConnectOrThrow, SaysHowToLearnTheModelsNames) {
  Served served(path_of("names.sock"), Schema::from_file(schema_file(false)), "logistic");
  Client client;
  try {
    connect_or_throw(client, served.address(), {.model = "another"});
    ADD_FAILURE();
  } catch (const RunError& error) {
    EXPECT_TRUE(says(error.what(), "windhover model list --to " + served.address()));
  }
}

TEST(CheckSchema, RefusesOneOfAnotherMeaning) {
  const std::string dense = schema_file(false);
  Served served(path_of("meaning.sock"), Schema::from_file(dense), "logistic");
  Client client;
  connect_or_throw(client, served.address());
  check_schema(client, Schema::from_file(dense));
  const std::string other = file_with(
      "other_meaning.toml",
      "target = \"y\"\n[[feature]]\nfield = \"a\"\nkind = \"number\"\nshift = 0\nscale = 2\n"
      "[[feature]]\nfield = \"c\"\nkind = \"category\"\ncategories = [\"u\", \"v\"]\n"
      "other = \"zero\"\n");
  const auto check_other = [&] { check_schema(client, Schema::from_file(other)); };
  EXPECT_TRUE(says(refusal_of(check_other), "other feature names or encodings"));
}

TEST(SendFileNowhere, SaysSo) {
  SendOptions o;
  o.path = data_file();
  o.schema = schema_file(false);
  o.address = "unix:" + path_of("nobody.sock");
  o.wait = 0;
  EXPECT_THROW((void)send_file(o), RunError);
  o.wait = -1;
  EXPECT_TRUE(says(refusal_of([&] { (void)send_file(o); }), "--wait -1"));
}

// The server is started once the sender has said that it waits.
TEST(SendFileNowhere, WaitsForAServerThatIsStarting) {
  const std::string schema = schema_file(false);
  const std::string socket = path_of("starting.sock");
  std::unique_ptr<Served> served;
  SendOptions o;
  o.path = data_file();
  o.schema = schema;
  o.address = "unix:" + socket;
  o.wait = 600;
  std::string note;
  o.on_note = [&](const std::string& text) {
    note += text;
    served = std::make_unique<Served>(socket, Schema::from_file(schema), "logistic");
  };
  EXPECT_EQ(send_file(o).totals.accepted, 3960U);
  EXPECT_TRUE(says(note, "starting")) << note;
}

// The covariance recovered from questions is that of the exact posterior of the window: for a
// linear model the summary is exact once the learner has swept the window.
TEST(FetchPosterior, RecoversTheGaussianThatTheServerAnswersFrom) {
  for (const bool sparse : {false, true}) {
    const std::string schema_path = schema_file(sparse);
    const Schema schema = Schema::from_file(schema_path);
    Served served(path_of("fetch.sock"), schema, "linear");
    const SendOptions o = options_for(served, schema_path);
    (void)send_file(o);
    Client client;
    connect_or_throw(client, served.address());
    // The answer is of all rows in the end, and exact once the learner has settled there.
    double spread = 1;
    double place = 1;
    for (int look = 0; look < 600 && !(spread < 1e-3 && place < 1e-3); ++look) {
      if (look > 0) std::this_thread::sleep_for(50ms);
      const ServedPosterior posterior = fetch_posterior(client, 10);
      const Provenance& p = posterior.provenance;
      if (p.sequence < 3960) continue;
      const Dataset rows = encoded_rows(o.path, schema, p.sequence - p.n_eff, p.sequence);
      ASSERT_EQ(rows.rows(), p.n_eff);
      const ReferencePosterior exact =
          exact_posterior(rows, {.intercept_precision = 0.1, .noise_variance = p.noise_variance},
                          {0, 0, 0}, {1, 1, 1});
      spread = (posterior.covariance - exact.covariance).norm() / exact.covariance.norm();
      place = (posterior.mean - exact.mode).norm();
    }
    EXPECT_LT(spread, 1e-3);
    EXPECT_LT(place, 1e-3);
  }
}

}  // namespace
}  // namespace windhover
