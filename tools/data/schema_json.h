// A schema for those who ask over HTTP: what the columns are called and how a field becomes them.
#ifndef WINDHOVER_TOOLS_DATA_SCHEMA_JSON_H_
#define WINDHOVER_TOOLS_DATA_SCHEMA_JSON_H_

#include <string>

#include "windhover/tools/data/schema.h"

namespace windhover {

// The message Schema of io/http/openapi.json, ended by a line break. Nothing of the file's path,
// form or rows. What is no UTF-8 becomes U+FFFD. REQUIRES: it is no draft.
std::string to_json_text(const Schema& schema);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_SCHEMA_JSON_H_
