// What an inspection says of the columns it has looked at, a sentence each.
#ifndef WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_
#define WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_

#include <string>

#include "windhover/tools/data/inspect_column.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// `hint`: what else it may be; may be empty. `texts`, in the order of the rows.
std::string target_note(const SchemaParts& parts, const std::string& hint, const ColumnFacts& facts,
                        const TargetTexts& texts);
// What becomes of a feature's empty cells by its rule.
std::string missing_note(const ColumnFacts& facts, const FeatureRule& rule);
// Says that most texts of a column are numbers, and how to go on; empty where they are not.
std::string mostly_numbers_note(const ColumnFacts& facts, char decimal);
// What numbers may stand for that are no amounts, and what to type then; empty of others.
std::string oddities_note(const std::string& name, const ColumnFacts& facts);
// Says that a number perhaps stands for a missing one, and how to go on; empty where none does.
std::string placeholder_note(const ColumnFacts& facts);
std::string offset_note(const SchemaParts& parts, const ColumnFacts& facts);
std::string trials_note(const ColumnFacts& facts);
std::string weight_note(const ColumnFacts& facts);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_
