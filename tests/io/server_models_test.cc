// Models that come and go, of a server that nobody has started.
#include "windhover/io/server_models.h"

#include <sys/resource.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/descriptors.h"
#include "windhover/tests/io/growing_models.h"

namespace windhover::testing::server_models_test {
namespace {

ServerConfig with_places(std::uint32_t places) {
  ServerConfig config = small_server();
  if (places == 0) return config;
  config.added.memory_bytes = 64 << 20;
  config.added.max_models = places;
  return config;
}

// An engine with its block, and a store for one that is added.
struct Candidate {
  explicit Candidate(const ServerConfig& config, Clock& clock, EngineConfig of = small_engine())
      : block(Engine::footprint(of).value()),
        engine(Engine::create(of, block.bytes(), clock).value()),
        store(ServerModels::footprint(config).value()) {}

  MappedBlock block;
  Engine* engine;
  MappedBlock store;
};

class ServerModelsTest : public ::testing::Test {
 protected:
  explicit ServerModelsTest(std::uint32_t places = 2)
      : config_(with_places(places)), first_(config_, clock_) {
    const PlannedModel planned{"first", small_engine()};
    const HostedModel hosted{"first", first_.engine};
    server_block_.emplace(Server::footprint(config_, {&planned, 1}).value());
    auto server = Server::create(config_, {&hosted, 1}, server_block_->bytes(), clock_);
    EXPECT_TRUE(server.ok());
    server_ = std::move(server).value();
  }
  ServerModels& models() { return server_->models(); }
  Candidate& candidate(const EngineConfig& of = small_engine()) {
    return *candidates_.emplace_back(std::make_unique<Candidate>(config_, clock_, of));
  }
  Result<std::size_t> add(std::string_view name) {
    Candidate& one = candidate();
    return models().add({name, one.engine}, one.store.bytes());
  }
  // Makes one ready and lets it in; its place.
  std::size_t come(std::string_view name) {
    const Result<std::size_t> place = add(name);
    EXPECT_TRUE(place.ok());
    if (!place.ok()) return 0;
    models().let_in(place.value());
    return place.value();
  }
  void go(std::size_t place) {
    models().let_go_of(place);
    models().forget(place);
  }
  Status status_of_add(std::string_view name) {
    const Result<std::size_t> place = add(name);
    return place.ok() ? Status::kOk : place.error().status;
  }

  const ServerConfig config_;
  ManualClock clock_{1'000'000'000};
  Candidate first_;
  std::optional<MappedBlock> server_block_;
  std::unique_ptr<Server> server_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
};

TEST_F(ServerModelsTest, PlacesAreThoseOfTheFirstOnesAndBehindThemFreeOnes) {
  EXPECT_EQ(models().count(), 1U);
  EXPECT_EQ(models().places(), 3U);
  EXPECT_EQ(models().name(0), "first");
  EXPECT_EQ(models().name(1), "");
  EXPECT_NE(models().orders(), nullptr);
  EXPECT_NE(models().instance_id(), 0U);
}

TEST_F(ServerModelsTest, EachThatComesHasAPlaceOfItsOwnUntilThereIsNone) {
  EXPECT_EQ(come("second"), 1U);
  EXPECT_EQ(come("third"), 2U);
  EXPECT_EQ(models().name(1), "second");
  EXPECT_EQ(models().name(2), "third");
  EXPECT_NE(models().instance_id(1), models().instance_id(2));
  EXPECT_EQ(status_of_add("fourth"), Status::kUnavailable);
  EXPECT_EQ(models().count(), 1U) << "those that the server was made with";
  go(1);
  EXPECT_EQ(models().name(1), "");
  EXPECT_EQ(come("fourth"), 1U);
  EXPECT_EQ(models().name(2), "third");
}

// A log and a connection would find none left when they need one.
TEST_F(ServerModelsTest, NoneComesThatMayNeedMoreOpenFilesThanThereMayBe) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = most_descriptors(config_, 2) - 1;
  ASSERT_LE(few.rlim_cur, before.rlim_cur);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(descriptor_limit(), few.rlim_cur);
  const Result<bool> possible = models().check("second", small_engine(), {});
  EXPECT_EQ(status_of_add("second"), Status::kUnavailable);
  if (before.rlim_max == before.rlim_cur) {
    raise_descriptor_limit();
    EXPECT_EQ(descriptor_limit(), before.rlim_cur);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(possible.ok());
  EXPECT_EQ(possible.error().number, static_cast<double>(few.rlim_cur));
  EXPECT_EQ(come("second"), 1U);
}

TEST(MostDescriptors, OfModelsWithALogThereAreThoseOfItsSegments) {
  ServerConfig config = small_server();
  const std::size_t connections = most_descriptors(config, 0);
  EXPECT_GE(connections, 2 * config.max_sessions);
  config.durable.folder = "data";
  config.durable.log_options = {.bytes = 7 << 20, .segment_bytes = 1 << 20};
  EXPECT_EQ(most_descriptors(config, 0), connections);
  EXPECT_GE(most_descriptors(config, 3), connections + 3 * 7);
}

TEST_F(ServerModelsTest, WhileOneIsReadyAndNotLetInNoOtherComes) {
  const Result<std::size_t> second = add("second");
  ASSERT_TRUE(second.ok());
  const Result<std::size_t> third = add("third");
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().status, Status::kUnavailable);
  EXPECT_STREQ(third.error().sentence,
               "the model that was added last is to be let in, or forgotten, before another comes");
  EXPECT_EQ(models().name(2), "") << "nothing of it is there";
  models().let_in(second.value());
  EXPECT_EQ(come("third"), 2U);
}

TEST_F(ServerModelsTest, OneThatIsForgottenInPlaceOfBeingLetInLeavesItsPlaceAndItsName) {
  for (int i = 0; i < 5; ++i) {
    const Result<std::size_t> second = add("second");
    ASSERT_TRUE(second.ok()) << i;
    EXPECT_EQ(second.value(), 1U);
    models().forget(second.value());
    EXPECT_EQ(models().name(1), "");
  }
  EXPECT_EQ(come("second"), 1U);
}

TEST_F(ServerModelsTest, AStoreThatIsTooSmallOrLiesWrongIsRefusedAndTakesNoPlace) {
  Candidate& one = candidate();
  const std::size_t needed = ServerModels::footprint(config_).value();
  std::span<std::byte> store = one.store.bytes();
  const auto refused = [&](std::span<std::byte> bytes) {
    const Result<std::size_t> place = models().add({"second", one.engine}, bytes);
    EXPECT_FALSE(place.ok());
    return place.ok() ? Error{} : place.error();
  };
  const Error small = refused(store.first(needed - 1));
  EXPECT_EQ(small.status, Status::kArenaTooSmall);
  EXPECT_EQ(small.number, static_cast<double>(needed));
  EXPECT_EQ(refused({}).status, Status::kArenaTooSmall);
  EXPECT_EQ(refused(store.subspan(8)).status, Status::kArenaTooSmall);
  EXPECT_EQ(models().name(1), "");
  EXPECT_TRUE(models().add({"second", one.engine}, store.first(needed)).ok()) << "to the byte";
}

TEST_F(ServerModelsTest, OneWhoseReadersOthersHaveTakenIsRefusedAndForgotten) {
  Candidate& one = candidate();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one.engine->reader().ok());
  const Result<std::size_t> place = models().add({"second", one.engine}, one.store.bytes());
  ASSERT_FALSE(place.ok());
  EXPECT_EQ(place.error().status, Status::kUnavailable);
  EXPECT_EQ(models().name(1), "");
  EXPECT_EQ(come("second"), 1U) << "nothing is left of it";
}

TEST_F(ServerModelsTest, CheckSaysBeforehandWhatAddWouldSay) {
  const auto status = [&](std::string_view name, const EngineConfig& engine,
                          std::optional<std::size_t> instead_of = {}) {
    const Result<bool> possible = models().check(name, engine, instead_of);
    return possible.ok() ? Status::kOk : possible.error().status;
  };
  EXPECT_EQ(status("second", small_engine()), Status::kOk);
  EXPECT_EQ(status("first", small_engine()), Status::kInvalidArgument);
  EXPECT_EQ(status("", small_engine()), Status::kInvalidConfig);
  EXPECT_EQ(status("second", small_engine_of(kFeatures + 1)), Status::kInvalidConfig);
  EXPECT_EQ(come("second"), 1U);
  EXPECT_EQ(come("third"), 2U);
  EXPECT_EQ(status("second", small_engine()), Status::kInvalidArgument);
  EXPECT_EQ(status("fourth", small_engine()), Status::kUnavailable);
  EXPECT_EQ(status("second", small_engine(), 1), Status::kOk) << "in place of itself";
  EXPECT_EQ(status("third", small_engine(), 1), Status::kInvalidArgument);
  EXPECT_EQ(status("fourth", small_engine(), 1), Status::kOk);
}

TEST_F(ServerModelsTest, AnswersAreThoseOfTheModelItselfOrOfOneThatFollowsIt) {
  const std::size_t second = come("second");
  EXPECT_EQ(models().answered_by(0), 0U);
  EXPECT_EQ(models().answered_by(second), second);
  EXPECT_EQ(models().set_answered_by(0, 0), Status::kOk);
  EXPECT_EQ(models().set_answered_by(0, second), Status::kInvalidArgument) << "it follows nobody";
  EXPECT_EQ(models().set_answered_by(0, 2), Status::kInvalidArgument) << "nobody is there";
  EXPECT_EQ(models().set_answered_by(0, 3), Status::kInvalidArgument) << "there is no such place";
  EXPECT_EQ(models().set_answered_by(3, 0), Status::kInvalidArgument);
  EXPECT_EQ(models().set_answered_by(SIZE_MAX, SIZE_MAX), Status::kInvalidArgument);
  EXPECT_EQ(models().answered_by(0), 0U);
}

class FixedModels : public ServerModelsTest {
 protected:
  FixedModels() : ServerModelsTest(0) {}
};

TEST_F(FixedModels, WhereNoMemoryIsGivenToThemNoneComes) {
  EXPECT_EQ(models().places(), 1U);
  EXPECT_EQ(models().orders(), nullptr);
  EXPECT_EQ(status_of_add("second"), Status::kUnsupported);
  const Result<bool> possible = models().check("second", small_engine());
  ASSERT_FALSE(possible.ok());
  EXPECT_EQ(possible.error().status, Status::kUnsupported);
}

// One that follows answers for its leader, and the leader for itself again.
TEST(ServerModelsOfAServer, AFollowerMayAnswerForWhomItFollowsAlone) {
  ManualClock clock(1'000'000'000);
  const ServerConfig config = small_server();
  EngineConfig leads = small_engine();
  leads.max_followers = 1;
  EngineConfig follows = small_engine();
  follows.follows = true;
  Candidate leader(config, clock, leads);
  Candidate follower(config, clock, follows);
  const std::vector<PlannedModel> planned = {{"leader", leads}, {"follower", follows}};
  const std::vector<HostedModel> hosted = {{"leader", leader.engine},
                                           {"follower", follower.engine, "leader"}};
  MappedBlock block(Server::footprint(config, planned).value());
  auto server = Server::create(config, hosted, block.bytes(), clock);
  ASSERT_TRUE(server.ok()) << server.error().sentence;
  ServerModels& models = server.value()->models();
  EXPECT_EQ(models.set_answered_by(0, 1), Status::kOk);
  EXPECT_EQ(models.answered_by(0), 1U);
  EXPECT_EQ(models.set_answered_by(1, 0), Status::kInvalidArgument);
  EXPECT_EQ(models.answered_by(1), 1U);
  EXPECT_EQ(models.set_answered_by(0, 0), Status::kOk);
  EXPECT_EQ(models.answered_by(0), 0U);
}

}  // namespace
}  // namespace windhover::testing::server_models_test
