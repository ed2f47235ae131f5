#include "windhover/tools/daemon/daemon_models.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "windhover/platform/arena.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/error.h"

namespace windhover::daemon_models_test {

namespace fs = std::filesystem;

class Files {
 public:
  explicit Files(const std::string& name) : folder_(testing::temporary_path(name)) {
    fs::create_directories(folder_ / "of");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  DaemonModels read(const std::string& name = "all.toml") const {
    return DaemonModels([&](DaemonConfig& config) {
      config.read_file((folder_ / name).string());
      config.set("engine.max_frame_rows", "64", "--engine.max_frame_rows");
    });
  }
  std::string refusal() const {
    try {
      (void)read();
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

TEST(DaemonModels, WithoutATableThereIsOne) {
  const Files files("one_model");
  files.write("all.toml", "[model]\nfeatures = 2\n[engine]\nwindow_size = 1000\n");
  const DaemonModels models = files.read();
  EXPECT_FALSE(models.several());
  ASSERT_EQ(models.all().size(), 1U);
  EXPECT_EQ(models.all()[0].name, kOnlyModel);
  EXPECT_EQ(models.planned()[0].name, "") << "its folder is the data folder itself";
  EXPECT_EQ(models.block_bytes(),
            Arena::aligned(models.all()[0].config->engine_bytes()) + models.server_bytes());
}

TEST(DaemonModels, ManyHaveFewerProducersEachUnlessSaid) {
  const Files files("many_models");
  files.write("own.toml", "[model]\nfeatures = 2\n[engine]\nwindow_size = 1000\n");
  const auto producers = [&](int models, const std::string& said) {
    std::string all = "[server]\n" + said + "\n[models]\n";
    for (int i = 0; i < models; ++i) all += "m" + std::to_string(i) + " = \"own.toml\"\n";
    files.write("all.toml", all);
    return files.read().common().server().max_producers;
  };
  EXPECT_EQ(producers(1, ""), 65'536U);
  EXPECT_EQ(producers(16, ""), 65'536U);
  EXPECT_EQ(producers(64, ""), 16'384U);
  EXPECT_EQ(producers(16, "added.memory = 100000000\nadded.max_models = 48"), 16'384U);
  EXPECT_EQ(producers(64, "max_producers = 3"), 3U);
}

TEST(DaemonModels, EachHasWhatIsItsOwnAndWhatTheFileSaysForAll) {
  const Files files("three_models");
  files.write("all.toml",
              "[engine]\nwindow_size = 1000\n[server]\nmax_sessions = 7\n"
              "[models]\nprice = \"of/price.toml\"\nclicks = \"of/clicks.toml\"\n"
              "also = \"of/price.toml\"\n");
  files.write("of/price.toml", "[model]\nfeatures = 3\n");
  files.write("of/clicks.toml",
              "[model]\nfeatures = 2\nname = \"logistic\"\n[engine]\nwindow_size = 500\n");
  const DaemonModels models = files.read();
  ASSERT_EQ(models.all().size(), 3U);
  EXPECT_EQ(models.all()[0].name, "price") << "in the order of the file";
  EXPECT_EQ(models.all()[1].name, "clicks");
  EXPECT_EQ(models.all()[2].name, "also");
  const EngineConfig price = models.all()[0].config->engine();
  EXPECT_EQ(price.model.features, 3U);
  EXPECT_EQ(price.window_size, 1000U);
  EXPECT_EQ(price.max_frame_rows, 64U) << "flags are for all";
  const EngineConfig clicks = models.all()[1].config->engine();
  EXPECT_EQ(clicks.model.name, "logistic");
  EXPECT_EQ(clicks.window_size, 500U);
  EXPECT_EQ(models.common().server().max_sessions, 7U);
  std::size_t engines = 0;
  for (const DaemonModels::Model& model : models.all()) {
    engines += Arena::aligned(model.config->engine_bytes());
  }
  EXPECT_EQ(models.block_bytes(), engines + models.server_bytes());
}

TEST(DaemonModels, WhatIsWrongIsSaidWithItsPlace) {
  const Files files("wrong_models");
  const std::string all = files.path("all.toml");
  const std::string own = files.path("own.toml");
  files.write("own.toml", "[model]\nfeatures = 2\n");
  files.write("all.toml", "models = 3\n");
  EXPECT_EQ(files.refusal(), all + ":1:10: models must be a table, NAME = \"FILE\"");
  files.write("all.toml", "[models]\n");
  EXPECT_EQ(files.refusal(), all + ":1:1: models names no model");
  files.write("all.toml", "[models]\n\n\".a\" = \"own.toml\"\n");
  EXPECT_EQ(files.refusal(),
            all +
                ":3:1: models..a is no name: 1 to 63 letters, digits, '_', '-' and "
                "'.', no '.' first");
  files.write("all.toml", "[models]\na = 3\n");
  EXPECT_EQ(files.refusal(), all + ":2:1: models.a must be the path of a TOML file");
  files.write("all.toml", "[models]\na = \"nowhere.toml\"\n");
  EXPECT_EQ(files.refusal(),
            all + ":2:1: models.a: cannot read the configuration " + files.path("nowhere.toml"));
  files.write("all.toml", "[models]\na = \"own.toml\"\n");
  files.write("own.toml", "[model]\nfeatures = 2\n[server]\nmax_sessions = 3\n");
  EXPECT_EQ(files.refusal(), all + ":2:1: models.a: " + own +
                                 ":4:1: server.max_sessions cannot be a model's own; its tables "
                                 "are model, sampler, engine and labels");
  files.write("own.toml", "[model]\nfeatures = 0\n");
  const std::string refusal = files.refusal();
  EXPECT_TRUE(refusal.starts_with(all + ":2:1: models.a: " + own + ":2:12: ")) << refusal;
}

TEST(DaemonModels, OneMayFollowAnother) {
  const Files files("following_models");
  files.write("own.toml", "[model]\nfeatures = 2\n");
  files.write("wide.toml", "[model]\nfeatures = 3\n");
  files.write("all.toml",
              "[data]\nfolder = \"/nonexistent\"\n[models]\na = \"own.toml\"\n"
              "b = {file = \"own.toml\", follows = \"a\"}\n"
              "c = {file = \"own.toml\", follows = \"a\"}\n");
  const DaemonModels models = files.read();
  const EngineConfig leader = models.all()[0].config->engine();
  const EngineConfig follower = models.all()[1].config->engine();
  EXPECT_TRUE(leader.checkpoints);
  EXPECT_EQ(leader.max_followers, 3U) << "two challengers and the log";
  EXPECT_TRUE(follower.follows);
  EXPECT_FALSE(follower.checkpoints) << "nobody keeps it";
  const std::string all = files.path("all.toml");
  files.write("all.toml",
              "[models]\nb = {file = \"own.toml\", follows = \"a\"}\na = \"own.toml\"\n");
  EXPECT_EQ(files.refusal(), all +
                                 ":2:1: models.b: follows = \"a\" is not allowed: a model that "
                                 "stands before it and follows nobody is expected");
  files.write("all.toml",
              "[models]\na = \"own.toml\"\nb = {file = \"wide.toml\", follows = \"a\"}\n");
  EXPECT_EQ(files.refusal(),
            "models.b has 3 features, and a, which it follows, 2; rows are of the "
            "same features, dense or sparse");
  files.write("all.toml", "[models]\na = {path = \"own.toml\"}\n");
  EXPECT_EQ(files.refusal(), all + ":2:1: models.a has a file and follows, each a text");
}

TEST(DaemonModels, OneThatIsAddedHasWhatTheFileSaysForAllAndTheRestOfItsOwn) {
  const Files files("added_model");
  files.write(
      "all.toml",
      "[engine]\nwindow_size = 1000\n[server]\nmax_producers = 77\n[models]\na = \"a.toml\"\n");
  files.write("a.toml", "[model]\nfeatures = 2\n");
  const DaemonModels models = files.read();
  const auto added = models.read_added("b", "[model]\nfeatures = 5\nname = \"logistic\"\n");
  EXPECT_EQ(added->engine().model.features, 5U);
  EXPECT_EQ(added->engine().model.name, "logistic");
  EXPECT_EQ(added->engine().window_size, 1000U);
  EXPECT_EQ(added->server().max_producers, 77U);
  try {
    (void)models.read_added("b", "[model]\nfeatures = 5\n[server]\nmax_producers = 1\n");
    FAIL() << "the server is not a model's own";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()).find("b:4:1: server.max_producers cannot be"), 0U)
        << error.what();
  }
}

TEST(DaemonModels, OneThatIsAddedBesideTheOnlyModelHasNothingOfThatOne) {
  const Files files("added_beside_one");
  files.write("all.toml",
              "[model]\nfeatures = 2\nname = \"poisson\"\n[engine]\nwindow_size = 1000\n");
  const auto added = files.read().read_added("b", "[model]\nfeatures = 5\n");
  EXPECT_EQ(added->engine().model.name, "linear");
  EXPECT_EQ(added->engine().window_size, EngineConfig().window_size);
}

}  // namespace windhover::daemon_models_test
