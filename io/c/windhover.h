/* Windhover from C: an engine inside this process, and a client of a server.
 *
 *   #include <windhover.h>
 *   cc program.c $(pkg-config --cflags --libs windhover)
 *
 * Types and status codes are in types.h, the engine in engine.h, the client in client.h.
 *
 * Handles are opaque; the program that creates one destroys it. No call throws, prints or ends the
 * process: each that can fail returns a windhover_status. A pointer that is NULL and must not be
 * gives WINDHOVER_INVALID_ARGUMENT, and the call does nothing.
 *
 * Structs that may grow begin with struct_size. Their init function, which is given sizeof, sets it
 * and every default; it is called once for a struct that is used many times. So a program runs with
 * a later library than it was compiled against: each symbol has the version in which it came
 * (WINDHOVER_0.2), and the SONAME libwindhover.so.0 changes with every incompatible change.
 * WINDHOVER_INVALID_ARGUMENT: init was not called; WINDHOVER_UNSUPPORTED: the struct is of a later
 * library than this.
 *
 * A program links this library or the libraries for C++, not both. */
#ifndef WINDHOVER_H_
#define WINDHOVER_H_

#include "windhover/io/c/client.h"
#include "windhover/io/c/engine.h"
#include "windhover/io/c/types.h"

#endif /* WINDHOVER_H_ */
