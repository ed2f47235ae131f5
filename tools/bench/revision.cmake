# Writes VERSION and the revision of SOURCE_DIR into the source file OUTPUT, if they have changed.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT revision)
  set(revision unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "windhover/tools/bench/suite.h"

namespace windhover {

const char* const kVersion = "@VERSION@";
const char* const kRevision = "@revision@";

}  // namespace windhover
]])
