// A posterior in units of the columns of a file, where a schema has shifted and scaled them.
#ifndef WINDHOVER_TOOLS_CLIENT_COLUMN_UNITS_H_
#define WINDHOVER_TOOLS_CLIENT_COLUMN_UNITS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "windhover/io/client.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// A server knows features as they are sent: (value - shift) / scale. Here a number's parameter is
// for one unit of its column, and the intercept is the linear predictor where all numbers are 0, as
// `windhover fit` has them. Several classes have a block of parameters each.
class ColumnUnits {
 public:
  // `blocks` of as many parameters each as the schema has features, and one with `intercept`.
  ColumnUnits(const Schema& schema, std::size_t blocks, bool intercept);

  // What one standard deviation of parameter i's column is, as the schema has it; 1 of a category's
  // and of an intercept.
  double scale(std::size_t i) const { return i % stride_ < features_ ? scale_[i % stride_] : 1.0; }
  bool is_intercept(std::size_t i) const { return i % stride_ == features_; }

  // Converts one draw of all parameters.
  void convert(std::span<double> theta) const;

  // Converts the summaries that `client` gave with `provenance`; asks it how sure it is of the
  // intercepts. False when it has another posterior by now: then all are to be asked for again. ess
  // and r_hat of an intercept stay those where the numbers are at their shift; its sd_robust is not
  // known, NaN.
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
