// Includes what every experiment needs: its context, its report, repeated runs with several seeds,
// and common names.
#ifndef WINDHOVER_TOOLS_REPRODUCE_HARNESS_H_
#define WINDHOVER_TOOLS_REPRODUCE_HARNESS_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/experiment.h"
#include "windhover/tools/reproduce/report.h"
#include "windhover/tools/reproduce/runs.h"

namespace windhover::reproduce {

using Eigen::Index;
using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using nlohmann::ordered_json;
using Runs = std::vector<ordered_json>;

// The entries of a matrix or vector in the order of its memory.
inline std::span<double> entries_of(auto& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.size())};
}

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_HARNESS_H_
