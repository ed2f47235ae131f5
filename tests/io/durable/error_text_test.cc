#include "windhover/io/durable/error_text.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>

#include "windhover/io/durable/folder.h"

namespace windhover::error_text_test {

TEST(ErrorSentence, HasTheNumberWhereThatSaysSomething) {
  EXPECT_EQ(error_sentence({Status::kRefused, "another window_size; there it is", 2'000}),
            "another window_size; there it is 2000");
  EXPECT_EQ(error_sentence({Status::kRefused, "another seed; there it is", 0}),
            "another seed; there it is 0");
  EXPECT_EQ(error_sentence({Status::kRefused, "another scale; there it is", 0.25}),
            "another scale; there it is 0.250000");
  EXPECT_EQ(error_sentence({Status::kRefused, "another model.name; its hash is", 1.5e19}),
            "another model.name");
  EXPECT_EQ(error_sentence({Status::kUnsupported, "of a version that is not read", 7}),
            "of a version that is not read: 7");
  EXPECT_EQ(error_sentence({Status::kArenaTooSmall, "the log needs more memory", 4'096}),
            "the log needs more memory: 4096 bytes");
  EXPECT_EQ(error_sentence({Status::kMalformed, "the checkpoint is damaged", 77}),
            "the checkpoint is damaged");
  EXPECT_EQ(error_sentence({Status::kMalformed, "a section is damaged; it begins at byte", 512}),
            "a section is damaged; it begins at byte 512");
  EXPECT_EQ(error_sentence(error_of(-ENOENT, "the file cannot be opened")),
            "the file cannot be opened");
  EXPECT_EQ(error_sentence({Status::kInvalidConfig, "more parameters than are allowed", 5}),
            "more parameters than are allowed; it is 5");
  EXPECT_EQ(error_sentence({Status::kInvalidConfig, "no name of a model",
                            std::numeric_limits<double>::quiet_NaN()}),
            "no name of a model");
}

TEST(ErrorSentence, SpeaksOfTheFileWhereItIsMovedIntoOne) {
  EXPECT_EQ(error_sentence(moved_by(64, {Status::kMalformed, "it begins at byte", 512})),
            "it begins at byte 576");
  EXPECT_EQ(error_sentence(moved_by(64, {Status::kRefused, "another seed; there it is", 1})),
            "another seed; there it is 1");
}

TEST(ErrorText, HasTheSystemsWordsForAnErrno) {
  EXPECT_EQ(error_text(error_of(-ENOENT, "the file cannot be opened")),
            "the file cannot be opened: No such file or directory");
  EXPECT_EQ(error_text({Status::kArenaTooSmall, "the log needs more memory", 4'096}),
            "the log needs more memory: 4096 bytes");
}

}  // namespace windhover::error_text_test
