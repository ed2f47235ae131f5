// Every sampler of the registry has its page, made from one template.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "windhover/samplers/registry.h"

namespace windhover::documentation_test {
namespace {

TEST(SamplerDocumentation, every_sampler_has_a_page_with_every_heading_filled) {
  const std::vector<std::string> wanted = {"Approximates",   "Update", "Cost",   "Settings",
                                           "When to use it", "Source", "Erratum"};
  for (const SamplerEntry& entry : sampler_registry()) {
    const std::string path =
        std::string(WINDHOVER_SOURCE_DIR) + "/samplers/docs/" + std::string(entry.name) + ".md";
    std::ifstream page(path);
    ASSERT_TRUE(page.good()) << "no page " << path;
    std::string line;
    std::getline(page, line);
    EXPECT_EQ(line, "# " + std::string(entry.name)) << path;
    std::vector<std::string> headings;
    std::vector<bool> filled;
    while (std::getline(page, line)) {
      if (line.starts_with("## ")) {
        headings.push_back(line.substr(3));
        filled.push_back(false);
      } else if (!line.empty() && !filled.empty()) {
        filled.back() = true;
      }
    }
    EXPECT_EQ(headings, wanted) << path;
    for (std::size_t i = 0; i < filled.size(); ++i) {
      EXPECT_TRUE(filled[i]) << path << ": nothing under " << headings[i];
    }
  }
}

TEST(SamplerDocumentation, every_page_is_of_a_sampler) {
  const auto folder = std::filesystem::path(WINDHOVER_SOURCE_DIR) / "samplers" / "docs";
  for (const auto& page : std::filesystem::directory_iterator(folder)) {
    if (page.is_regular_file()) {
      EXPECT_NE(find_sampler(page.path().stem().string()), nullptr) << page.path();
    }
  }
}

}  // namespace
}  // namespace windhover::documentation_test
