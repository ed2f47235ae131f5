// A schema for clients over HTTP: the names of the columns and how a field becomes them.
#ifndef WINDHOVER_TOOLS_DATA_SCHEMA_JSON_H_
#define WINDHOVER_TOOLS_DATA_SCHEMA_JSON_H_

#include <string>

#include "windhover/tools/data/schema.h"

namespace windhover {

// The message Schema of io/http/openapi.json, with a line break at the end. It says nothing of the
// file's path, form or rows. Bytes that are not UTF-8 become U+FFFD. REQUIRES: the schema is not a
// draft.
std::string to_json_text(const Schema& schema);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_SCHEMA_JSON_H_
