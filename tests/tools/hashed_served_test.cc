// Hashed features from a file to a server and back to answers.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tests/tools/served.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/questions.h"

namespace windhover {
namespace {

constexpr int kCrossedRows = 20'000;
constexpr int kOrigins = 10, kCarriers = 4, kHours = 2;

// No field says anything by itself: late are those whose three numbers have an even sum.
bool mostly_late(int origin, int carrier, int hour) { return (origin + carrier + hour) % 2 == 0; }

std::string crossed_rows() {
  std::mt19937_64 random(7);
  std::bernoulli_distribution exception(0.1);
  const auto below = [&](int end) {
    return std::uniform_int_distribution<int>(0, end - 1)(random);
  };
  std::string text = "origin,carrier,hour,late\n";
  for (int i = 0; i < kCrossedRows; ++i) {
    const int o = below(kOrigins), c = below(kCarriers), h = below(kHours);
    const bool late = mostly_late(o, c, h) != exception(random);
    text += fmt::format("O{},C{},{},{}\n", o, c, h, late ? 1 : 0);
  }
  return file_with("crossed.csv", text);
}

std::string crossed_schema() {
  return file_with("crossed.toml",
                   "target = \"late\"\npositive = \"1\"\nnegative = \"0\"\nsparse = true\n"
                   "[[feature]]\nhash = [\"origin\", \"carrier\", \"hour\"]\nbuckets = 262144\n"
                   "[[feature]]\nhash = [\"origin\"]\nbuckets = 4096\n");
}

// The window holds 2,000 rows, 25 of each crossing, of which one in ten is an exception: that
// half of them are has a probability below 1e-6.
TEST(HashedFeatures, OfAFileAnswerQuestionsByName) {
  const std::string path = crossed_schema();
  const Schema schema = Schema::from_file(path);
  Served served(path_of("crossed.sock"), schema, "logistic");
  SendOptions o = options_for(served, path);
  o.path = crossed_rows();
  const SendReport report = send_file(o);
  EXPECT_EQ(report.totals.accepted, 20'000U);
  ASSERT_EQ(report.hashed.size(), 2U);
  EXPECT_EQ(report.hashed[0]["feature"], "hash(origin x carrier x hour)");
  EXPECT_EQ(report.hashed[0]["texts"], kOrigins * kCarriers * kHours);
  EXPECT_EQ(report.to_json()["hashed"][1]["texts"], kOrigins);

  Client client;
  connect_or_throw(client, served.address());
  check_schema(client, schema);
  QuestionRows questions;
  std::vector<bool> late;
  for (int i = 0; i < kOrigins * kCarriers * kHours; ++i) {
    const int origin = i % kOrigins, carrier = i / kOrigins % kCarriers;
    const int hour = i / kOrigins / kCarriers;
    questions.add(schema.encode({{"origin", fmt::format("O{}", origin)},
                                 {"carrier", fmt::format("C{}", carrier)},
                                 {"hour", fmt::format("{}", hour)}}),
                  schema);
    late.push_back(mostly_late(origin, carrier, hour));
  }
  PredictRequest request;
  questions.put_into(request);
  std::vector<PredictiveSummary> answers;
  Provenance provenance;
  std::size_t right = 0;
  // A minute is only for a machine that is very slow.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  do {
    ASSERT_TRUE(ok(client.predict(request, answers, provenance))) << client.error_text();
    right = 0;
    for (std::size_t i = 0; i < late.size(); ++i)
      right += (answers.at(i).epred_mean > 0.5) == late[i] ? 1 : 0;
    if (right == late.size() && provenance.n_seen == kCrossedRows) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(provenance.n_seen, 20'000U);
  EXPECT_EQ(right, late.size());
}

}  // namespace
}  // namespace windhover
