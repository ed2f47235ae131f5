#include "windhover/tools/kept/log_sizes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/daemon/daemon_config.h"

namespace windhover::log_sizes_test {

// Each names the option to change, where it stands, and the nearest number that would do.
TEST(LogSizes, ThatCannotBeAreRefusedWithOnesThatCan) {
  struct Case {
    std::string given;
    std::string says;
  };
  for (const auto& [given, words] : std::vector<Case>{
           {"log_bytes = 67108864",
            "c.toml:4:13: data.log_bytes must be a multiple of data.segment_bytes, 16777216, from "
            "5 to 512 times as much; it is 67108864: 83886080 would do"},
           {"log_bytes = 83886081", "it is 83886081: 100663296 would do"},
           {"log_bytes = 18446744073709551615", "unreadable"},
           {"segment_bytes = 1048577\nlog_bytes = 83886080",
            "c.toml:4:17: data.segment_bytes must be a multiple of 4096, from 2097152 (twice "
            "data.commit_bytes) to 1099511627776; it is 1048577: 2097152 would do"},
           {"segment_bytes = 0", "it is 0: 2097152 would do"},
           {"commit_bytes = 8192",
            "c.toml:4:16: data.commit_bytes must be a multiple of 4096, from 139264 on (8192 and "
            "twice server.frame_cap); it is 8192: 139264 would do"},
           {"commit_bytes = 16777216",
            "c.toml:4:16: data.segment_bytes must be a multiple of 4096, from 33554432 (twice "
            "data.commit_bytes)"},
       }) {
    DaemonConfig config;
    const std::string refusal = refusal_of([&] {
      config.read_toml("model.features = 3\n[data]\nfolder = \"d\"\n" + given, "c.toml");
      config.check();
    });
    if (words == "unreadable") {
      EXPECT_TRUE(says(refusal, "c.toml:4:")) << given;
      continue;
    }
    EXPECT_TRUE(says(refusal, words)) << given;
    // And it would.
    const std::size_t colon = refusal.rfind(": ");
    ASSERT_NE(colon, std::string::npos);
    const std::size_t name = refusal.find("data.");
    config.set(refusal.substr(name, refusal.find(' ', name) - name),
               refusal.substr(colon + 2, refusal.rfind(" would do") - colon - 2), "test");
    const std::string next = refusal_of([&] { config.check(); });
    EXPECT_FALSE(says(next, refusal.substr(name, 20))) << next;
  }
  DaemonConfig kept_alone;
  kept_alone.read_toml(
      "model.features = 3\n[data]\nfolder = \"d\"\nlog_bytes = 7\ndurability = \"memory\"",
      "c.toml");
  EXPECT_NO_THROW(kept_alone.check()) << "there is to be no log";
}

}  // namespace windhover::log_sizes_test
