// Data folders as a server leaves them, for the tests of what is done with them.
#ifndef WINDHOVER_TESTS_TOOLS_KEPT_SUPPORT_H_
#define WINDHOVER_TESTS_TOOLS_KEPT_SUPPORT_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "windhover/tests/io/durable/server_on_disk.h"
#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/error.h"
#include "windhover/tools/kept/export_rows.h"
#include "windhover/tools/kept/kept_log.h"

namespace windhover::testing {

// Frames of a hundred rows, each waited for, so that each is a commit of its own at most.
inline void send_rows(ServerLife& life, std::uint64_t producer, std::size_t first,
                      std::size_t count) {
  Client client;
  ASSERT_EQ(client.connect(life.observe(), {.producer = producer, .first_sequence = first}),
            Status::kOk)
      << client.error_text();
  for (std::size_t at = first; at < first + count; at += 100) {
    const TestRows rows(std::min<std::size_t>(100, first + count - at), at);
    ASSERT_EQ(client.observe(rows.rows()), Status::kOk) << client.error_text();
  }
}

// 2,000 rows of producer 7 and 1,000 of producer 8; checkpoints at rows 1,000 and 2,000.
inline std::string folder_with_history(const std::string& name) {
  const std::string path = temporary_path(name);
  ServerLife life(server_on_disk(path));
  EXPECT_TRUE(life.opens()) << life.error();
  send_rows(life, 7, 0, 1'000);
  EXPECT_TRUE(life.checkpoint());
  send_rows(life, 7, 1'000, 1'000);
  EXPECT_TRUE(life.checkpoint());
  send_rows(life, 8, 0, 1'000);
  return path;
}

inline std::uint64_t next_of(ServerLife& life, std::uint64_t producer) {
  return standing(life, producer).next();
}

// Calls flip() in the middle of the first payload that holds the bits of `value` in a segment of
// the log.
inline void flip_in_log(const std::string& folder, double value, std::size_t occurrence) {
  std::string bits(sizeof value, '\0');
  std::memcpy(bits.data(), &value, sizeof value);
  const std::string path = folder + "/segment-0000";
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  std::size_t at = content.find(bits);
  for (; occurrence > 0 && at != std::string::npos; --occurrence) at = content.find(bits, at + 1);
  ASSERT_NE(at, std::string::npos);
  flip(path, static_cast<std::streamoff>(at));
}

// Written once, only read by the tests.
inline const std::string& history() {
  static const std::string path = folder_with_history("history");
  return path;
}

// All that is exported of a folder, as text.
inline std::string exported(const std::string& path, const ExportOptions& options = {}) {
  const std::string csv = temporary_path("exported.csv");
  std::FILE* file = std::fopen(csv.c_str(), "w");
  KeptFolder folder(path);
  (void)export_rows(folder, options, file, [](std::uint64_t) {});
  std::fclose(file);
  std::ifstream in(csv);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What an action said that failed as it ran.
inline std::string failure_of(const auto& action) {
  try {
    action();
  } catch (const RunError& error) {
    return error.what();
  }
  return "nothing failed";
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_TOOLS_KEPT_SUPPORT_H_
