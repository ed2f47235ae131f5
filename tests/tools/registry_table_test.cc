#include "windhover/tools/cli/registry_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

TEST(RegistryTable, ListsEveryEntryInOrderWithNothingEmpty) {
  const auto samplers = samplers_json();
  ASSERT_EQ(samplers.size(), sampler_registry().size());
  for (std::size_t i = 0; i < samplers.size(); ++i) {
    EXPECT_EQ(samplers[i]["name"], sampler_registry()[i].name);
    EXPECT_EQ(samplers[i]["approximates"], sampler_registry()[i].approximates);
    EXPECT_EQ(samplers[i]["source"], sampler_registry()[i].source);
  }
  const auto models = models_json();
  ASSERT_EQ(models.size(), model_registry().size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    EXPECT_EQ(models[i]["name"], model_registry()[i].name);
    EXPECT_EQ(models[i]["likelihood"], model_registry()[i].likelihood);
  }
  for (const auto& list : {samplers, models}) {
    for (const auto& entry : list) {
      for (const auto& [key, value] : entry.items()) {
        EXPECT_FALSE(value.get<std::string>().empty()) << key;
      }
    }
  }
}

TEST(RegistryTable, HasALineAnEntryUnderTheNamesOfItsColumns) {
  const auto models = models_json();
  const std::string table = table_of(models);
  EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')),
            models.size() + 1);
  EXPECT_EQ(table.find("name"), 0U);
  const std::size_t column = table.find("likelihood");
  std::size_t line = table.find('\n') + 1;
  for (const auto& entry : models) {
    const auto name = entry["name"].get<std::string>();
    const auto likelihood = entry["likelihood"].get<std::string>();
    EXPECT_EQ(table.compare(line, name.size(), name), 0);
    EXPECT_EQ(table.compare(line + column, likelihood.size(), likelihood), 0) << name;
    line = table.find('\n', line) + 1;
  }
}

}  // namespace
}  // namespace windhover
