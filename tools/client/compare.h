// Compares a served posterior with the exact one of the rows that it stands on.
#ifndef WINDHOVER_TOOLS_CLIENT_COMPARE_H_
#define WINDHOVER_TOOLS_CLIENT_COMPARE_H_

#include <Eigen/Core>
#include <cstdint>
#include <string>

#include "windhover/io/client.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/data/schema.h"

namespace windhover {

// The Gaussian that a server answers from. Its covariance is found by asking for the sd of linear
// predictors, which are quadratic forms in it: about dimension^2 / 2 rows.
struct ServedPosterior {
  Eigen::VectorXd mean;
  Eigen::VectorXd mode;
  Eigen::MatrixXd covariance;
  Provenance provenance;
};

// Waits until the posterior rests: no new snapshot for half a second, and for twice the longest
// time between two snapshots seen while waiting. RunError when it does not rest within
// `patience_seconds`. REQUIRES: the model has one linear predictor and its features are not
// standardised by the server.
ServedPosterior fetch_posterior(Client& client, double patience_seconds);

// Rows [first, last) of a file, encoded, dense. Rows that the schema skips are not counted.
Dataset encoded_rows(const std::string& path, const Schema& schema, std::uint64_t first,
                     std::uint64_t last);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_COMPARE_H_
