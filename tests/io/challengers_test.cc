// Champion and challengers: several posteriors of one stream, and who of them answers.
#include <gtest/gtest.h>

#include <vector>

#include "windhover/tests/io/served_models.h"

namespace windhover::testing::challengers_test {
namespace {

// "sales", and two challengers that learn from the same rows.
class Challenged : public ServedModels {
 public:
  Challenged()
      : ServedModels({{"sales", champion()},
                      {"sales-long", challenger(small_engine().window_size), "sales"},
                      {"sales-short", challenger(100), "sales"}},
                     small_server()) {}

 private:
  static EngineConfig champion() {
    EngineConfig engine = small_engine_of(3);
    engine.max_followers = 2;
    return engine;
  }
  static EngineConfig challenger(std::uint64_t window) {
    EngineConfig engine = small_engine_of(3);
    engine.follows = true;
    engine.window_size = window;
    return engine;
  }
};

TEST(Challengers, LearnFromTheRowsOfTheirChampionFedOnce) {
  Challenged models;
  Client client;
  ASSERT_EQ(client.connect(models.observe_address(), about("sales", 1)), Status::kOk);
  for (int i = 0; i < 20; ++i) send(client, 3, 100);
  EXPECT_TRUE(eventually(
      [&] { return models.engine(1).head() == 2'000 && models.engine(2).head() == 2'000; }));
  std::vector<v1::ModelState> states;
  ASSERT_EQ(client.models(states), Status::kOk) << client.error_text();
  ASSERT_EQ(states.size(), 3U);
  EXPECT_EQ(states[0].name(), "sales");
  EXPECT_EQ(states[0].follows(), "");
  EXPECT_EQ(states[0].answered_by(), "sales");
  EXPECT_EQ(states[0].head(), 2'000U);
  EXPECT_EQ(states[2].follows(), "sales");
  EXPECT_EQ(states[2].features(), 3U);
  EXPECT_EQ(states[2].model(), v1::MODEL_KIND_LINEAR);
  Client rival;
  ASSERT_EQ(rival.connect(models.observe_address(), about("sales-short")), Status::kOk);
  EXPECT_FALSE(rival.welcome().observes()) << "nobody sends it rows";
}

TEST(Challengers, OneAnswersForItsChampionFromOneRequestOn) {
  Challenged models;
  Client sender;
  ASSERT_EQ(sender.connect(models.observe_address(), about("sales", 1)), Status::kOk);
  for (int i = 0; i < 20; ++i) send(sender, 3, 100);
  Client asker;
  ASSERT_EQ(asker.connect(models.query_address(), about("sales")), Status::kOk);
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  const auto effective_rows = [&] {
    EXPECT_EQ(asker.posterior(parameters, provenance), Status::kOk) << asker.error_text();
    return provenance.n_eff;
  };
  EXPECT_TRUE(eventually([&] { return effective_rows() > 100; }));
  Client operator_of;
  ASSERT_EQ(operator_of.connect(models.query_address(), about("sales")), Status::kOk);
  v1::ChangeModel change;
  change.set_answered_by("sales-short");
  v1::ModelState state;
  ASSERT_EQ(operator_of.change_model(change, state), Status::kOk) << operator_of.error_text();
  EXPECT_EQ(state.answered_by(), "sales-short");
  EXPECT_EQ(models.server().models().answered_by(0), 2U);
  // The connection that asks notices nothing but the answer.
  EXPECT_LE(effective_rows(), 100U);
  send(sender, 3, 100);  // rows go where they went
  EXPECT_EQ(models.engine(0).head(), 2'100U);
  change.set_answered_by("sales");
  ASSERT_EQ(operator_of.change_model(change, state), Status::kOk);
  EXPECT_TRUE(eventually([&] { return effective_rows() > 100; }));
}

TEST(Challengers, OnlyTheModelsOwnMayAnswerForIt) {
  Challenged models;
  Client asker;
  v1::ModelState state;
  v1::ChangeModel change;
  ASSERT_EQ(asker.connect(models.query_address(), about("sales-short")), Status::kOk);
  change.set_answered_by("sales");
  EXPECT_NE(asker.change_model(change, state), Status::kOk);
  EXPECT_EQ(asker.refusal(), v1::REASON_INVALID_ARGUMENT);
  change.set_answered_by("nobody");
  EXPECT_NE(asker.change_model(change, state), Status::kOk);
  EXPECT_EQ(asker.refusal(), v1::REASON_UNKNOWN_MODEL);
  EXPECT_EQ(models.server().models().set_answered_by(1, 2), Status::kInvalidArgument);
}

TEST(Challengers, APausedModelKeepsItsAnswersAndLosesNothing) {
  Challenged models;
  Client sender;
  ASSERT_EQ(sender.connect(models.observe_address(), about("sales", 1)), Status::kOk);
  send(sender, 3, 200);
  Client asker;
  ASSERT_EQ(asker.connect(models.query_address(), about("sales")), Status::kOk);
  std::vector<ParameterSummary> parameters;
  Provenance provenance;
  EXPECT_TRUE(eventually(
      [&] { return ok(asker.posterior(parameters, provenance)) && provenance.sequence == 200; }));
  v1::ChangeModel change;
  v1::ModelState state;
  change.set_pause(v1::PAUSE_CHANGE_PAUSE);
  ASSERT_EQ(asker.change_model(change, state), Status::kOk);
  EXPECT_TRUE(state.paused());
  send(sender, 3, 100);
  EXPECT_EQ(models.engine(0).head(), 300U);
  ASSERT_EQ(asker.posterior(parameters, provenance), Status::kOk);
  EXPECT_EQ(provenance.sequence, 200U);
  change.set_pause(v1::PAUSE_CHANGE_GO_ON);
  ASSERT_EQ(asker.change_model(change, state), Status::kOk);
  EXPECT_FALSE(state.paused());
  EXPECT_TRUE(eventually(
      [&] { return ok(asker.posterior(parameters, provenance)) && provenance.sequence == 300; }));
}

}  // namespace
}  // namespace windhover::testing::challengers_test
