// A posterior in units of the columns of a file, where a schema has shifted and scaled them.
#ifndef WINDHOVER_TOOLS_CLIENT_COLUMN_UNITS_H_
#define WINDHOVER_TOOLS_CLIENT_COLUMN_UNITS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// A server knows features as they are sent: (value - shift) / scale. This converts the parameter of
// a number to one unit of its column, and the intercept to the linear predictor where all numbers
// are 0, as `windhover fit` shows them. With several classes there is a block of parameters for
// each.
class ColumnUnits {
 public:
  // `blocks` blocks, each of a parameter for each feature of the schema, and one more with
  // `intercept`.
  ColumnUnits(const Schema& schema, std::size_t blocks, bool intercept);

  // The standard deviation of the column of parameter i, as the schema has it; 1 for a category and
  // for an intercept.
  double scale(std::size_t i) const { return i % stride_ < features_ ? scale_[i % stride_] : 1.0; }
  bool is_intercept(std::size_t i) const { return i % stride_ == features_; }

  // Converts one draw of all parameters.
  void convert(std::span<double> theta) const;

  // Converts summaries that `client` received with `provenance`; asks the server for the sd of the
  // intercepts. Returns false when the server has another posterior by now: ask for all again. ess
  // and r_hat of an intercept stay those at the shift of the numbers; its sd_robust becomes NaN,
  // because it is not known.
  bool convert(Client& client, std::span<ParameterSummary> summaries,
               const Provenance& provenance) const;

 private:
  bool intercept_sds(Client& client, const Provenance& provenance, std::vector<double>& sds) const;
  bool sd_at_zero(Client& client, const Provenance& provenance, double& sd) const;

  bool sparse_;
  std::size_t features_;
  std::size_t blocks_;
  std::size_t stride_;
  bool intercept_;
  bool shifted_ = false;
  std::vector<double> shift_, scale_;  // of each feature
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_COLUMN_UNITS_H_
