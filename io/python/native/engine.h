// An engine and its reader, over numpy's arrays. Nothing is copied: an array that is not contiguous
// or not of the library's type is refused (TypeError).
//
// Statuses are those of the library. Other threads of Python run while the library works; threads
// otherwise as in io/c/engine.h. The destructors free nothing, because a forked process has these
// objects without their threads: destroy() does, and every call after it is refused.
#ifndef WINDHOVER_IO_PYTHON_NATIVE_ENGINE_H_
#define WINDHOVER_IO_PYTHON_NATIVE_ENGINE_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "windhover/io/python/native/library.h"

namespace windhover::python {

template <class T>
using Array = pybind11::array_t<T, pybind11::array::c_style>;
template <class T>
using Maybe = std::optional<Array<T>>;

using RefusedRows = std::vector<std::pair<std::uint64_t, int>>;

// The library has refused to create or restore an engine: its sentence, and its number.
struct SetUpError : std::runtime_error {
  explicit SetUpError(const windhover_error& error);
};

// The options of an engine. Invariant: `c` points to the two strings beside it.
struct Options {
  explicit Options(const Library& library);
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  void set_model(std::string text);
  void set_sampler(std::string text);

  windhover_engine_options c;
  std::string model;
  std::string sampler;
};

// Rows of `features` columns; sparse ones have `indices` and `row_ends`. Each optional array of
// another length than the rows need is refused (std::invalid_argument).
struct RowArrays {
  Array<double> features;
  Maybe<std::uint32_t> indices;
  Maybe<std::uint32_t> row_ends;
  Maybe<double> offsets;
  Maybe<double> trials;
};

class Engine {
 public:
  // SetUpError: the library refuses the options.
  Engine(const Library& library, const Options& options);
  void destroy();

  std::size_t footprint() const { return footprint_; }
  std::uint32_t dimension() const { return library_.windhover_engine_dimension(engine_); }
  std::uint64_t head() const { return library_.windhover_engine_head(engine_); }
  std::uint64_t pending_labels() const { return library_.windhover_engine_pending_labels(engine_); }

  // The status; where it is OK, also the rows that were refused, and why.
  std::pair<int, RefusedRows> observe(const RowArrays& rows, const Array<double>& targets,
                                      const Maybe<double>& weights);
  // The status, the numbers of accepted, refused and duplicate keys, and which were refused.
  // REQUIRES: no key holds a 0.
  std::tuple<int, std::uint64_t, std::uint64_t, std::uint64_t, RefusedRows> outcomes(
      const std::vector<std::string>& keys, const Array<double>& targets);
  int settle_labels();

  // The status, and how many rounds had work to do.
  std::pair<int, int> poll(int rounds);
  int start();
  int stop();
  int pause(bool paused);

  // The status, and the saved state. The engine must be stopped.
  std::pair<int, pybind11::bytes> save();
  // SetUpError: the library refuses. The engine must be stopped.
  void restore(std::string_view kept);

  const Library& library() const { return library_; }
  windhover_engine* handle() const { return engine_; }

 private:
  const Library& library_;
  std::size_t footprint_ = 0;
  windhover_engine* engine_ = nullptr;
};

// What is asked about each row, and the caller's arrays for the answers, of as many rows.
struct QuestionArrays {
  double interval = 0.9;
  std::uint64_t thompson_id = 0;
  bool posterior_spread = false;
  Array<double> quantiles;
  Array<double> thresholds;
  Maybe<double> outcomes;
  std::vector<std::string> keys;  // one a row, or empty
  std::size_t classes = 0;        // for a categorical model
};
struct AnswerArrays {
  Array<windhover_prediction> predictions;
  Array<double> quantiles;   // rows x quantiles
  Array<double> exceedance;  // rows x thresholds
  // rows x classes
  Array<double> probabilities;
  Array<double> probabilities_sd;
  Array<double> probabilities_lower;
  Array<double> probabilities_upper;
};

class Reader {
 public:
  // std::runtime_error with the status in words: there is no room for another reader.
  explicit Reader(const Engine& engine);
  void destroy();

  // Each returns the status, and where the answer comes from.
  std::pair<int, windhover_provenance> predict(const RowArrays& rows,
                                               const QuestionArrays& question,
                                               AnswerArrays& answer);
  std::pair<int, windhover_provenance> posterior(Array<windhover_parameter>& parameters);
  // Writes the draws of the newest snapshot to `theta`; provenance.draws says how many.
  std::pair<int, windhover_provenance> draws(Array<double>& theta);
  std::pair<int, std::vector<windhover_event>> events();

 private:
  windhover_provenance provenance() const;
  // Null once the reader or its engine is destroyed: the library refuses it.
  windhover_reader* alive() const { return engine_.handle() != nullptr ? reader_ : nullptr; }

  const Library& library_;
  const Engine& engine_;
  windhover_reader* reader_ = nullptr;
};

}  // namespace windhover::python

#endif  // WINDHOVER_IO_PYTHON_NATIVE_ENGINE_H_
