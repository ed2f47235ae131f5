#include "windhover/tests/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace windhover {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolder, IsRemovedWithWhatIsInIt) {
  std::optional<testing::TemporaryFolder> folder(std::in_place);
  const fs::path path = folder->path();
  fs::create_directories(path / "deeper");
  std::ofstream(path / "deeper" / "file") << "text";
  ASSERT_TRUE(fs::exists(path / "deeper" / "file"));
  folder.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, IsNotRemovedByAForkedChild) {
  const std::string path = testing::temporary_path("kept");
  std::ofstream(path) << "text";
  const pid_t child = fork();
  if (child == 0) std::exit(0);  // runs the destructors of the child's copies
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(fs::exists(path));
}

}  // namespace
}  // namespace windhover
