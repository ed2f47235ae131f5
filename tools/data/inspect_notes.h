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
// Of a feature with empty cells, by its rule.
std::string missing_note(const ColumnFacts& facts, const FeatureRule& rule);
// Of a column of texts most of which are numbers, to go on with; empty of others.
std::string mostly_numbers_note(const ColumnFacts& facts, char decimal);
// What numbers may stand for that are no amounts, and what to type then; empty of others.
std::string oddities_note(const std::string& name, const ColumnFacts& facts);
// Of a number that stands for a missing one, perhaps, to go on with; empty of others.
std::string placeholder_note(const ColumnFacts& facts);
std::string offset_note(const SchemaParts& parts, const ColumnFacts& facts);
std::string trials_note(const ColumnFacts& facts);
std::string weight_note(const ColumnFacts& facts);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_
