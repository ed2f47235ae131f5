// What an inspection says of the columns it has looked at, a sentence each.
#ifndef WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_
#define WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_

#include <string>

#include "windhover/tools/data/inspect_column.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// `hint`: what else it may be; may be empty.
std::string target_note(const SchemaParts& parts, const std::string& hint);
// Of a feature with empty cells, by its rule.
std::string missing_note(const ColumnFacts& facts, const FeatureRule& rule);
std::string offset_note(const SchemaParts& parts, const ColumnFacts& facts);
std::string trials_note(const ColumnFacts& facts);
std::string weight_note(const ColumnFacts& facts);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_
