#ifndef WINDHOVER_TOOLS_BENCH_REVISION_H_
#define WINDHOVER_TOOLS_BENCH_REVISION_H_

namespace windhover {

// What was built: the version, and the commit it is from ("-dirty": and changes to it; "unknown":
// outside a repository). Written by revision.cmake in each build.
extern const char* const kVersion;
extern const char* const kRevision;

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_REVISION_H_
