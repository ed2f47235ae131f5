#ifndef WINDHOVER_PLATFORM_CHECK_H_
#define WINDHOVER_PLATFORM_CHECK_H_

// WINDHOVER_CHECK(condition) catches a mistake of the in-process caller, who broke a documented
// precondition. Without NDEBUG it stops the program on the spot and prints nothing; with NDEBUG the
// condition is compiled but never evaluated. Bad input and failing machines are not its business:
// they get a Status.
#ifdef NDEBUG
#define WINDHOVER_CHECK(...) static_cast<void>(sizeof(!(__VA_ARGS__)))
#else
#define WINDHOVER_CHECK(...) ((__VA_ARGS__) ? static_cast<void>(0) : __builtin_trap())
#endif

#endif  // WINDHOVER_PLATFORM_CHECK_H_
