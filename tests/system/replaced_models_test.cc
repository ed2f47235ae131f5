// Models that operators replace in a daemon at work: what is refused loses nothing.
#include <nlohmann/json.hpp>
#include <string>

#include "windhover/tests/system/added_models.h"

namespace windhover::testing::replaced_models_test {
namespace {

using namespace added_models;

TEST(ReplacedModels, ARefusedReplaceLosesNothing) {
  Replaced clicks("added_refused", true);
  for (const char* more : {"--json", "--delete-data"}) {
    clicks.refuses({"--set", "model.features=30", more}, "server.added.max_parameters");
    clicks.refuses({"--set", "model.name=no-model", more}, "no-model");
    clicks.refuses({"--set", "model.features=1", "--set", "engine.window_size=9000000", more},
                   "of server.added.memory are free");
    clicks.refuses({"--set", "model.features=1", "--set", "engine.max_query_rows=4000", more},
                   "max_query_rows");
  }
  clicks.refuses({"--set", "model.features=2"}, "serves again");  // the folder is another's
  clicks.refuses({"--set", "model.features=2"}, "--delete-data");
  clicks.daemon->stop(SIGKILL);
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, clicks.before.head);
}

TEST(ReplacedModels, ARefusedReplaceLosesNothingOfWhatIsInMemoryAlone) {
  Replaced clicks("added_refused_in_memory", false);
  clicks.refuses({"--set", "model.features=30"}, "server.added.max_parameters");
  clicks.refuses({"--set", "model.features=1", "--set", "engine.window_size=9000000"},
                 "of server.added.memory are free");
  // There would be room for it, but not for both.
  const ProgramRun wide = model(*clicks.daemon, {"add", "wide", "--set", "model.features=19",
                                                 "--set", "engine.window_size=150000", "--json"});
  ASSERT_EQ(wide.exit_code, 0) << wide.error;
  const auto taken = nlohmann::json::parse(wide.out);
  ASSERT_GT(taken.at("needed_bytes"), taken.at("free_bytes")) << "more than half is taken";
  const Answered before = answered(*clicks.daemon, "wide");
  const ProgramRun other = model(*clicks.daemon, {"replace", "wide", "--set", "model.features=19",
                                                  "--set", "engine.window_size=140000"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.error.find("remove that one first"), std::string::npos) << other.error;
  EXPECT_EQ(answered(*clicks.daemon, "wide"), before);
}

// Found by reading: the folder of the model that was to make place went first.
TEST(ReplacedModels, AFullDiskLeavesTheModelThatWasToBeReplaced) {
  const Fault full("wh-models", "WINDHOVER_FULL_WHILE");
  Replaced clicks("added_full", true, WINDHOVER_FAULT_PRELOAD);
  full.begin();
  clicks.refuses({"--set", "model.features=2", "--delete-data"}, "No space left on device");
  EXPECT_NE(content_of(clicks.configuration.path("log")).find("checkpoint_failed model=clicks"),
            std::string::npos)
      << "the last checkpoint is missed";
  const ProgramRun added = model(*clicks.daemon, {"add", "other", "--set", "model.features=2"});
  EXPECT_EQ(added.exit_code, 2);
  EXPECT_NE(added.error.find("No space left on device"), std::string::npos) << added.error;
  EXPECT_FALSE(fs::exists(clicks.configuration.path("data/other")));
  clicks.daemon->stop(SIGKILL);
  clicks.start();
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, clicks.before.head);
  full.end();
  ASSERT_EQ(
      model(*clicks.daemon, {"replace", "clicks", "--set", "model.features=2", "--delete-data"})
          .exit_code,
      0);
  EXPECT_EQ(answered(*clicks.daemon, "clicks").head, 0U);
  EXPECT_FALSE(fs::exists(clicks.configuration.path("data/.clicks.before")));
}

// Without a log what the model has learned since its last checkpoint is in memory alone.
TEST(ReplacedModels, WithoutALogAModelGoesOnlyWhenACheckpointOfItIsWritten) {
  const Fault full("wh-checkpoint", "WINDHOVER_FULL_WHILE");
  Replaced clicks("added_unlogged", true, WINDHOVER_FAULT_PRELOAD, {"--data.durability", "memory"});
  full.begin();
  clicks.refuses({"--set", "model.features=2", "--delete-data"}, "clicks serves on");
  full.end();
  clicks.refuses({"--set", "model.features=2"}, "serves again");
}

}  // namespace
}  // namespace windhover::testing::replaced_models_test
