// Lets other threads of Python run for as long as there is one.
//
// A thread that asks to go on while Python ends is ended by unwinding its stack, which ends the
// process where a destructor asks. It waits for the end of the process instead, as from Python 3.14
// on.
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
