#include "windhover/io/python/native/library.h"

#include <dlfcn.h>

#include <stdexcept>

namespace windhover::python {

Library::Library(const std::string& path) {
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) throw std::runtime_error(dlerror());
  const auto find = [&](const char* name) {
    void* const function = dlsym(opened, name);
    if (function == nullptr) {
      throw std::runtime_error(path + ": not the library of this engine: no " + name);
    }
    return function;
  };
#define WINDHOVER_FIND(name) this->name = reinterpret_cast<decltype(&::name)>(find(#name));
  WINDHOVER_FUNCTIONS(WINDHOVER_FIND)
#undef WINDHOVER_FIND
}

}  // namespace windhover::python
