// What tests of a daemon with several models share.
#ifndef WINDHOVER_TESTS_SYSTEM_SEVERAL_MODELS_H_
#define WINDHOVER_TESTS_SYSTEM_SEVERAL_MODELS_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing {

// A folder for all.toml, what it names, and what the daemon keeps.
class ConfigurationFolder {
 public:
  explicit ConfigurationFolder(const std::string& name) : folder_(temporary_path(name)) {
    std::filesystem::create_directories(folder_);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> arguments(bool keeps = false) const {
    std::vector<std::string> all = {path("all.toml"), "--process.log_level", "info"};
    if (keeps) {
      all.insert(all.end(), {"--data.folder", path("data"), "--data.log_bytes", "16777216",
                             "--data.segment_bytes", "2097152", "--data.commit_bytes", "524288"});
    }
    return all;
  }

 private:
  std::filesystem::path folder_;
};

inline ClientOptions about(const std::string& model, std::uint64_t producer = 0) {
  ClientOptions options;
  options.model = model;
  options.producer = producer;
  return options;
}

inline void send(Client& client, std::size_t columns, std::size_t rows) {
  std::vector<double> x(rows * columns);
  std::vector<double> y(rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7) - 3;
  for (std::size_t i = 0; i < rows; ++i) y[i] = static_cast<double>(i % 2);
  ASSERT_EQ(client.send_observe({x, y, {}, {}}), Status::kOk) << client.error_text();
  ASSERT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_SYSTEM_SEVERAL_MODELS_H_
