// What a folder asks of a daemon that goes on with it, and that it gets it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "windhover/tests/tools/kept_support.h"
#include "windhover/tools/daemon/daemon_models.h"
#include "windhover/tools/kept/kept_folder.h"
#include "windhover/tools/kept/kept_needs.h"

namespace windhover::testing::kept_needs_test {
namespace {

// Written once, only read by the tests.
const std::string& history() {
  static const std::string path = folder_with_history("needs_history");
  return path;
}

std::optional<Horizon> horizon_of(const std::string& path) {
  const std::optional<KeptNeeds> needs = kept_needs(path);
  return needs ? std::optional(needs->horizon) : std::nullopt;
}

TEST(KeptNeeds, HorizonIsThatOfTheNewestCheckpointThatIsGood) {
  EXPECT_EQ(horizon_of(temporary_path("no_folder")), std::nullopt);
  EXPECT_EQ(horizon_of(history()), Horizon::kWindow);
  // Two that say different things: a row less of the window is not seen, another horizon is.
  const std::string path = temporary_path("horizons");
  EngineConfig engine = engine_on_disk();
  engine.horizon = Horizon::kAdaptive;
  {
    ServerLife life(server_on_disk(path), engine);
    ASSERT_TRUE(life.opens()) << life.error();
    send_rows(life, 7, 0, 1'000);
    ASSERT_TRUE(life.checkpoint());
  }
  EXPECT_EQ(horizon_of(path), Horizon::kAdaptive);
  const auto file = [](const std::string& folder, std::uint64_t number) {
    return folder + "/" + KeptFolder::checkpoint_name(number);
  };
  const std::vector<std::uint64_t> newest = KeptFolder(history()).checkpoints();
  ASSERT_FALSE(newest.empty());
  const std::uint64_t above = KeptFolder(path).checkpoints().back() + 1;
  std::filesystem::copy_file(file(history(), newest.back()), file(path, above));
  EXPECT_EQ(horizon_of(path), Horizon::kWindow);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file(path, above)));
  flip(file(path, above), size / 2);
  EXPECT_EQ(horizon_of(path), Horizon::kAdaptive) << "the newest is damaged";
  std::filesystem::resize_file(file(path, above), 100);
  EXPECT_EQ(horizon_of(path), Horizon::kAdaptive) << "it ends too early";
}

// Every byte of the part that is read, turned over: another answer never comes of it.
TEST(KeptNeeds, NeverComeOfDamage) {
  const std::string path = temporary_path("horizon_damaged");
  std::filesystem::create_directory(path);
  const std::uint64_t number = KeptFolder(history()).checkpoints().back();
  const std::string name = "/" + KeptFolder::checkpoint_name(number);
  std::filesystem::copy_file(history() + name, path + name);
  const std::optional<KeptNeeds> whole = kept_needs(path);  // the log may have asked for a third
  ASSERT_TRUE(whole && whole->horizon == Horizon::kWindow);
  for (std::streamoff at = 0; at < 6'000; at += 7) {
    flip(path + name, at);
    const std::optional<KeptNeeds> told = kept_needs(path);
    EXPECT_TRUE(!told || (told->horizon == whole->horizon && told->waiting == whole->waiting &&
                          told->producers == whole->producers))
        << at;
    flip(path + name, at);
  }
  EXPECT_EQ(horizon_of(path), Horizon::kWindow);
}

// A learner that stood still, and producers that only the log knows.
TEST(KeptNeeds, RowsThatWaitAndProducers) {
  const std::string path = temporary_path("needs");
  {
    ServerLife life(server_on_disk(path));
    ASSERT_TRUE(life.opens()) << life.error();
    life.engine().progress().pause(true);
    send_rows(life, 7, 0, 1'200);
    send_rows(life, 8, 0, 100);
    ASSERT_EQ(life.end(true), Status::kOk);
  }
  const std::optional<KeptNeeds> needs = kept_needs(path);
  ASSERT_TRUE(needs);
  EXPECT_EQ(needs->waiting, 1'300U);
  EXPECT_EQ(needs->producers, 2U);
  EXPECT_EQ(kept_producers(path), 2U);
  {
    ServerLife life(server_on_disk(path));
    ASSERT_TRUE(life.opens()) << life.error();
    send_rows(life, 9, 0, 100);
  }
  EXPECT_EQ(kept_needs(path)->producers, 2U);
  EXPECT_EQ(kept_producers(path), 3U);
  EXPECT_EQ(kept_producers(temporary_path("no_folder")), 0U);
}

// Begun with larger sizes than a daemon chooses now: it chooses what the folder needs.
TEST(KeptNeeds, AreWhatADaemonChoosesUnlessItIsTold) {
  const std::string data = temporary_path("needs_chosen");
  const std::string path = data + "/m0";
  std::filesystem::create_directory(data);
  constexpr std::uint64_t kWaiting = 9'000;
  constexpr std::uint64_t kProducers = 1'100;
  EngineConfig engine = engine_on_disk();
  engine.window_slack = 65'536;
  ServerConfig server = server_on_disk(path);
  server.max_producers = 2'000;
  {
    ServerLife life(server, engine);
    ASSERT_TRUE(life.opens()) << life.error();
    life.engine().progress().pause(true);
    send_rows(life, 7, 0, kWaiting);
    ASSERT_TRUE(life.end(true) == Status::kOk);
  }
  {
    ServerLife life(server, engine);
    ASSERT_TRUE(life.opens()) << life.error();
    for (std::uint64_t i = 1; i < kProducers; ++i) {
      if (i == kProducers / 2) {
        ASSERT_TRUE(life.checkpoint());
      }
      Client client;
      ASSERT_EQ(client.connect(life.observe(), {.producer = 1'000 + i}), Status::kOk)
          << client.error_text();
      ASSERT_EQ(client.observe(TestRows(1, i).rows()), Status::kOk);
    }
  }
  const std::string toml = data + "/own.toml";
  std::ofstream(toml) << "[model]\nname = \"linear\"\nfeatures = 3\n";
  const auto chosen = [&](const std::string& said) {
    std::string all =
        "[engine]\nwindow_size = 1000\n" + said + "\n[data]\nfolder = \"" + data + "\"\n[models]\n";
    for (int i = 0; i < 1'100; ++i) all += "m" + std::to_string(i) + " = \"own.toml\"\n";
    std::ofstream(data + "/all.toml") << all;
    return DaemonModels([&](DaemonConfig& config) { config.read_file(data + "/all.toml"); });
  };
  const DaemonModels models = chosen("");
  EXPECT_EQ(models.all()[0].config->engine().window_slack, kWaiting);
  EXPECT_EQ(models.all()[0].config->engine().max_frame_rows, kWaiting / 2);
  EXPECT_EQ(models.all()[1].config->engine().window_slack, 8'192U);
  EXPECT_EQ(models.common().server().max_producers, kProducers);
  const DaemonModels told = chosen("window_slack = 8200\n[server]\nmax_producers = 5");
  EXPECT_EQ(told.all()[0].config->engine().window_slack, 8'200U);
  EXPECT_EQ(told.common().server().max_producers, 5U);
}

}  // namespace
}  // namespace windhover::testing::kept_needs_test
