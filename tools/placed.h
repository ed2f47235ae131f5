#ifndef WINDHOVER_TOOLS_PLACED_H_
#define WINDHOVER_TOOLS_PLACED_H_

#include "windhover/platform/arena.h"
#include "windhover/platform/memory.h"

namespace windhover {

// An object of the library, constructed in a block of memory that it owns; T takes its memory from
// the Arena that is the first argument of its constructor.
template <class T>
class Placed {
 public:
  template <class... Args>
  explicit Placed(const Args&... args)
      : block_([&] {
          Arena measuring = Arena::measuring();
          (void)T(measuring, args...);
          return measuring.used();
        }()),
        arena_(block_.bytes()),
        object_(arena_, args...) {}

  T* operator->() { return &object_; }
  T& operator*() { return object_; }

 private:
  MappedBlock block_;
  Arena arena_;
  T object_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_PLACED_H_
