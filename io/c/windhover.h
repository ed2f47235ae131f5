/* Windhover from C: an engine inside this process, and a client of a server.
 *
 *   #include <windhover.h>          cc $(pkg-config --cflags windhover) ... $(pkg-config --libs
 * windhover)
 *
 * Types and status codes are in types.h, the engine in engine.h, the client in client.h.
 *
 * Handles are opaque; whoever creates one destroys it. No exception and no type of C++ crosses this
 * border, nothing prints, and no call ends the process: each that can fail returns a
 * windhover_status. A pointer that must not be NULL and is, gives WINDHOVER_INVALID_ARGUMENT, and
 * then nothing else has happened.
 *
 * Structs that may grow begin with struct_size. Their init function, which is given sizeof, sets it
 * and every default; called once, the struct may be used again and again. So a program runs with a
 * later library than it was compiled against: symbols carry the version they came with
 * (WINDHOVER_0.2), and the SONAME libwindhover.so.0 changes when anything else than that does.
 * WINDHOVER_INVALID_ARGUMENT: no init was called; WINDHOVER_UNSUPPORTED: the struct is of a later
 * library than this.
 *
 * A program is linked with this library or with the libraries of C++, not with both. */
#ifndef WINDHOVER_H_
#define WINDHOVER_H_

#include "windhover/io/c/client.h"
#include "windhover/io/c/engine.h"
#include "windhover/io/c/types.h"

#endif /* WINDHOVER_H_ */
