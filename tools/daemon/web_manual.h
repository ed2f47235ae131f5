// The manual (tools/manual) as a web site, in the program: what HttpConfig::manual takes.
#ifndef WINDHOVER_TOOLS_DAEMON_WEB_MANUAL_H_
#define WINDHOVER_TOOLS_DAEMON_WEB_MANUAL_H_

#include <span>

#include "windhover/io/http/page_asset.h"

namespace windhover {

// Empty where mkdocs was not there when the program was built (tools/manual/CMakeLists.txt).
std::span<const PageAsset> web_manual() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_WEB_MANUAL_H_
