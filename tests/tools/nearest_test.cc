#include "windhover/tools/data/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace windhover::nearest_test {
namespace {

using Names = std::vector<std::string>;

const Names kCommands = {"send", "predict", "posterior", "status", "samplers", "models", "fit"};

TEST(NearestNames, BeginWithWhatASlipWasMeantToBe) {
  for (const auto& [word, meant] :
       std::vector<std::pair<std::string, std::string>>{{"snd", "send"},
                                                        {"sendd", "send"},
                                                        {"sedn", "send"},
                                                        {"xend", "send"},
                                                        {"SEND", "send"},
                                                        {"stat", "status"},
                                                        {"p", "predict"},
                                                        {"preidct", "predict"},
                                                        {"sampler", "samplers"},
                                                        {"posteroir", "posterior"}}) {
    const Names near = nearest_names(word, kCommands);
    ASSERT_FALSE(near.empty()) << word;
    EXPECT_EQ(near.front(), meant) << word;
  }
}

TEST(NearestNames, AreNoneWhereNothingIsNear) {
  for (const std::string word : {"train", "foo", "xyz", ""}) {
    EXPECT_EQ(nearest_names(word, kCommands), Names()) << word;
  }
  EXPECT_EQ(nearest_names("port", Names{"rt"}), Names());
}

TEST(NearestNames, LeaveOutWhatIsFartherOffThanTheNearest) {
  const Names options = {"engine.window_size", "engine.window_slack", "engine.max_query_rows"};
  EXPECT_EQ(nearest_names("engine.windw_size", options), Names{"engine.window_size"});
  EXPECT_EQ(nearest_names("window_size", options), Names{"engine.window_size"});
  EXPECT_EQ(nearest_names("port", Names{"a.tcp_port", "b.tcp_port", "c.tcp_port", "d.tcp_port"}),
            (Names{"a.tcp_port", "b.tcp_port", "c.tcp_port"}));
}

TEST(DidYouMean, GoesOnWithASentence) {
  EXPECT_EQ(did_you_mean("modle", Names{"model", "models", "fit"}),
            "; did you mean model or models");
  EXPECT_EQ(did_you_mean("train", Names{"model", "fit"}), "");
}

}  // namespace
}  // namespace windhover::nearest_test
