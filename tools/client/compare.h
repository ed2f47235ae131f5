// A served posterior against the exact one of the rows it stands on.
#ifndef WINDHOVER_TOOLS_CLIENT_COMPARE_H_
#define WINDHOVER_TOOLS_CLIENT_COMPARE_H_

#include <Eigen/Core>
#include <cstdint>
#include <string>

#include "windhover/io/client.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// The Gaussian that a server answers from. The covariance is found by asking for the sd of linear
// predictors, which are quadratic forms of it: about dimension^2 / 2 rows of questions.
struct ServedPosterior {
  Eigen::VectorXd mean;
  Eigen::VectorXd mode;
  Eigen::MatrixXd covariance;
  Provenance provenance;
};

// Waits until the posterior rests: no new snapshot for half a second, and for twice the longest
// time between two that was seen while waiting. RunError when it does not within
// `patience_seconds`. The model's features must not be standardised by the server.
ServedPosterior fetch_posterior(Client& client, double patience_seconds);

// Rows `first` to `last` of a file (those the schema passes over not counted), encoded, dense.
Dataset encoded_rows(const std::string& path, const Schema& schema, std::uint64_t first,
                     std::uint64_t last);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_COMPARE_H_
