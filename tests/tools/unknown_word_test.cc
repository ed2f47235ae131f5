#include "windhover/tools/program/unknown_word.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "windhover/tools/program/run_program.h"

namespace windhover::unknown_word_test {
namespace {

// What a program like ours says to refuse the words; "" where they are taken.
std::string refusal_of(const std::vector<const char*>& words) {
  CLI::App app("A program", "tool");
  CLI::App* fit = app.add_subcommand("fit", "");
  std::string file;
  std::string target;
  fit->add_option("FILE", file)->required();
  fit->add_option("--target", target)->required();
  fit->add_flag("--json");
  fit->add_flag("--secret")->group("");
  CLI::App* model = app.add_subcommand("model", "")->require_subcommand(1);
  model->add_subcommand("list", "");
  model->add_subcommand("add", "");
  app.add_subcommand("models", "");
  app.add_subcommand("hidden", "")->group("");
  std::vector<char*> argv = {const_cast<char*>("tool")};
  for (const char* word : words) argv.push_back(const_cast<char*>(word));
  try {
    (void)run_parsed(app, static_cast<int>(argv.size()), argv.data());
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(UnknownWord, OfAProgramIsACommandWithTheNearest) {
  EXPECT_EQ(refusal_of({"modle", "list"}),
            "there is no command \"modle\"; did you mean model or models; there are fit, model, "
            "models; `tool --help` describes them");
  EXPECT_EQ(refusal_of({"train", "a.csv", "--json"}),
            "there is no command \"train\"; there are fit, model, models; `tool --help` describes "
            "them");
  EXPECT_EQ(refusal_of({"hiden"}).find("hidden"), std::string::npos);
}

TEST(UnknownWord, OfAGroupIsACommandOfIt) {
  EXPECT_EQ(refusal_of({"model", "lst"}),
            "there is no command \"lst\"; did you mean list; there are list, add; `tool model "
            "--help` describes them");
}

TEST(UnknownWord, WithDashesIsAnOptionEvenWhereOthersAreMissing) {
  const std::string all = "; `tool fit --help` lists what it has";
  EXPECT_EQ(refusal_of({"fit", "a.csv", "--trget", "y"}),
            "`tool fit` has no option --trget; did you mean --target" + all);
  EXPECT_EQ(refusal_of({"fit", "--target=y", "--jsn=3"}),
            "`tool fit` has no option --jsn; did you mean --json" + all);
  EXPECT_EQ(refusal_of({"fit", "a.csv", "--target", "y", "-j"}),
            "`tool fit` has no option -j; did you mean --json" + all);
  EXPECT_EQ(refusal_of({"fit", "a.csv", "--target", "y", "--colour"}),
            "`tool fit` has no option --colour" + all);
  EXPECT_EQ(refusal_of({"fit", "a.csv", "--target", "y", "--secrt"}).find("--secret"),
            std::string::npos);
  EXPECT_EQ(refusal_of({"--hlp", "fit", "a.csv", "--target", "y"}),
            "`tool` has no option --hlp; did you mean --help; `tool --help` lists what it has");
}

TEST(UnknownWord, IsAnArgumentTooMany) {
  EXPECT_EQ(refusal_of({"fit", "a.csv", "b.csv", "--target", "y"}),
            "`tool fit` does not take \"b.csv\" as well; `tool fit --help` says what it takes");
}

TEST(UnknownWord, IsNoneWhereAllAreKnown) {
  EXPECT_EQ(refusal_of({"fit", "a.csv", "--target", "y"}), "");
  EXPECT_EQ(refusal_of({"fit", "--help", "--trget"}), "");
}

}  // namespace
}  // namespace windhover::unknown_word_test
