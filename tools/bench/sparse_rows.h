// Sparse rows like those of clicks or texts, and stochastic gradient descent over them.
#ifndef WINDHOVER_TOOLS_BENCH_SPARSE_ROWS_H_
#define WINDHOVER_TOOLS_BENCH_SPARSE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "windhover/runtime/observation.h"
#include "windhover/tools/evaluate/sparse_descent.h"

namespace windhover {

// How often a column of a field occurs: all equally often, the worst for caches, or the k-th in
// proportion to 1 / k (Zipf), as words do.
enum class ColumnLaw : std::uint8_t { kEven, kZipf };

// `count` rows of `nonzeros` ones, one in each of as many fields, which share `features` columns;
// targets are 0 or 1 by a logistic model with random coefficients. Weights are log-normal.
class SparseRows {
 public:
  SparseRows(std::uint32_t features, std::uint32_t nonzeros, std::uint64_t count, ColumnLaw law,
             bool weights);

  std::uint64_t size() const { return targets_.size(); }
  // A batch of at most 256 rows.
  ObservationBatch batch(std::uint64_t first, std::uint64_t count) const;
  const std::uint32_t* indices(std::uint64_t row) const { return &indices_[row * nonzeros_]; }
  const double* ones() const { return ones_.data(); }
  std::uint32_t nonzeros() const { return nonzeros_; }
  double target(std::uint64_t row) const { return targets_[row]; }

  // Writes the rows in Vowpal Wabbit's text form. RunError when the file cannot be written.
  void write(const std::string& path) const;

 private:
  std::uint32_t nonzeros_;
  std::vector<std::uint32_t> indices_;
  std::vector<double> ones_;  // the values of a batch
  std::vector<std::uint32_t> ends_;
  std::vector<double> targets_;
  std::vector<double> weights_;
};

// Processor seconds of one pass over the rows, each predicted and then learned from: the fastest of
// three passes.
double descent_seconds(const SparseRows& rows, std::uint32_t features, SparseDescent::Rule rule);

// Wall-clock seconds of one pass of Vowpal Wabbit's plain SGD, reading of the file included; NaN
// where there is no program `vw`.
double vowpal_wabbit_seconds(const SparseRows& rows, std::uint32_t features);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_SPARSE_ROWS_H_
