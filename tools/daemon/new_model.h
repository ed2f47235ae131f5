// What is in the folder of a model that nobody has been let in to yet.
#ifndef WINDHOVER_TOOLS_DAEMON_NEW_MODEL_H_
#define WINDHOVER_TOOLS_DAEMON_NEW_MODEL_H_

#include <string>

namespace windhover {

// Whether something may have been learned in a folder. A new model has a log whose segments are
// zeros but for the stamp of that log, checkpoints without a row, and files that have not got their
// name yet; whatever else there is, or cannot be read, may be anything. A folder that is not there
// holds nothing. Reads all of it, up to the first that is more.
bool holds_more_than_a_new_model(const std::string& folder);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_NEW_MODEL_H_
