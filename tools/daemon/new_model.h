// What the folder of a model holds that no client has reached yet.
#ifndef WINDHOVER_TOOLS_DAEMON_NEW_MODEL_H_
#define WINDHOVER_TOOLS_DAEMON_NEW_MODEL_H_

#include <string>

namespace windhover {

// Whether something may have been learned in a folder. A new model has a log whose segments are
// zeros but for the stamp of that log, checkpoints without a row, and files that have not got their
// final name; anything else, or anything unreadable, counts as more. False where there is no
// folder. Reads all of it, up to the first thing that is more.
bool holds_more_than_a_new_model(const std::string& folder);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_NEW_MODEL_H_
