#include "windhover/tools/cli/guide.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace windhover {
namespace {

const std::vector<std::string> kNames = {"send",     "predict", "posterior", "status",
                                         "samplers", "models",  "fit"};

TEST(NearestName, FindsWhatASlipWasMeantToBe) {
  for (const auto& [word, meant] :
       std::vector<std::pair<std::string, std::string>>{{"snd", "send"},
                                                        {"sendd", "send"},
                                                        {"sedn", "send"},
                                                        {"xend", "send"},
                                                        {"stat", "status"},
                                                        {"p", "predict"},
                                                        {"preidct", "predict"},
                                                        {"sampler", "samplers"},
                                                        {"posteroir", "posterior"}}) {
    EXPECT_EQ(nearest_name(word, kNames), meant) << word;
  }
}

TEST(NearestName, FindsNothingWhereNothingIsNear) {
  for (const std::string word : {"train", "foo", "xyz", ""}) {
    EXPECT_EQ(nearest_name(word, kNames), "") << word;
  }
}

TEST(UnknownCommand, IsNamedWithWhatThereIs) {
  EXPECT_EQ(unknown_command_text("sned", std::vector<std::string>{"send", "fit"}),
            "there is no command \"sned\" (did you mean \"send\"?); there are send, fit; "
            "`windhover --help` describes them");
  EXPECT_EQ(
      unknown_command_text("train", std::vector<std::string>{"send", "fit"}),
      "there is no command \"train\"; there are send, fit; `windhover --help` describes them");
}

}  // namespace
}  // namespace windhover
