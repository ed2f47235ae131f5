// The registries of samplers and models as JSON and as tables.
#ifndef WINDHOVER_TOOLS_CLI_REGISTRY_TABLE_H_
#define WINDHOVER_TOOLS_CLI_REGISTRY_TABLE_H_

#include <nlohmann/json.hpp>
#include <string>

namespace windhover {

// An array with an object for each entry, in the order of the registry.
nlohmann::ordered_json samplers_json();
nlohmann::ordered_json models_json();

// A table of objects that have the same keys and hold texts: a column for each key, headed by it.
std::string table_of(const nlohmann::ordered_json& entries);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_REGISTRY_TABLE_H_
