// The notes of an inspection on columns, a sentence each.
#ifndef WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_
#define WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_

#include <string>

#include "windhover/tools/data/inspect_column.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// `hint`: what else the target may be; may be empty. `texts` are in the order of the rows.
std::string target_note(const SchemaParts& parts, const std::string& hint, const ColumnFacts& facts,
                        const TargetTexts& texts);
// How a feature's rule treats empty cells.
std::string missing_note(const ColumnFacts& facts, const FeatureRule& rule);
// That most texts of a column are numbers, and how to go on; empty where they are not.
std::string mostly_numbers_note(const ColumnFacts& facts, char decimal);
// What numbers that are not amounts may be, and what to type then; empty otherwise.
std::string oddities_note(const std::string& name, const ColumnFacts& facts);
// That a number may stand for a missing value, and how to go on; empty otherwise.
std::string placeholder_note(const ColumnFacts& facts);
std::string offset_note(const SchemaParts& parts, const ColumnFacts& facts);
std::string trials_note(const ColumnFacts& facts);
std::string weight_note(const ColumnFacts& facts);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_INSPECT_NOTES_H_
