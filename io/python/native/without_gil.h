// Releases Python's interpreter lock for its lifetime.
//
// Before Python 3.14 a thread that takes the lock while the interpreter finalizes is ended by
// unwinding its stack, which would terminate the process out of this destructor. The thread waits
// for the end of the process instead, as Python 3.14 has it do.
#ifndef WINDHOVER_IO_PYTHON_NATIVE_WITHOUT_GIL_H_
#define WINDHOVER_IO_PYTHON_NATIVE_WITHOUT_GIL_H_

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace windhover::python {

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
      for (;;) pause();
    }
  }

 private:
  PyThreadState* state_;
};

}  // namespace windhover::python

#endif  // WINDHOVER_IO_PYTHON_NATIVE_WITHOUT_GIL_H_
