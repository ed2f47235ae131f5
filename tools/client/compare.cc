#include "windhover/tools/client/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "windhover/tools/client/answers.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using Eigen::Index;

// One x with at most two entries that are not 0.
struct Probe {
  Index i = -1;
  double at_i = 0;
  Index j = -1;
};

// sd^2 of the linear predictor at each probe, all from one snapshot.
class Variances {
 public:
  Variances(Client& client, std::uint64_t snapshot) : client_(client), snapshot_(snapshot) {}

  // False when another snapshot answered.
  bool ask(const std::vector<Probe>& probes, std::vector<double>& variances) {
    const std::size_t page = std::max<std::size_t>(client_.welcome().max_query_rows(), 1);
    for (std::size_t first = 0; first < probes.size(); first += page) {
      const std::size_t last = std::min(first + page, probes.size());
      if (!ask_page({probes.data() + first, last - first}, variances)) return false;
    }
    return true;
  }

 private:
  bool ask_page(std::span<const Probe> probes, std::vector<double>& variances) {
    const std::uint32_t features = client_.welcome().features();
    const bool sparse = client_.welcome().max_nonzeros() > 0;
    std::vector<double> values;
    std::vector<std::uint32_t> indices, row_ends;
    for (const Probe& probe : probes) {
      if (sparse) {
        if (probe.i >= 0) {
          values.push_back(probe.at_i);
          indices.push_back(static_cast<std::uint32_t>(probe.i));
        }
        if (probe.j >= 0) {
          values.push_back(1.0);
          indices.push_back(static_cast<std::uint32_t>(probe.j));
        }
        row_ends.push_back(static_cast<std::uint32_t>(values.size()));
      } else {
        std::vector<double> x(features, 0.0);
        if (probe.i >= 0) x[static_cast<std::size_t>(probe.i)] = probe.at_i;
        if (probe.j >= 0) x[static_cast<std::size_t>(probe.j)] = 1.0;
        values.insert(values.end(), x.begin(), x.end());
      }
    }
    PredictRequest request;
    request.rows = probes.size();
    request.posterior_spread = true;
    request.features = values;
    request.indices = indices;
    request.row_ends = row_ends;
    Provenance provenance;
    check_reply(client_, client_.predict(request, summaries_, provenance), "predicting");
    for (const PredictiveSummary& s : summaries_) variances.push_back(s.linpred_sd * s.linpred_sd);
    return provenance.snapshot_id == snapshot_;
  }

  Client& client_;
  std::uint64_t snapshot_;
  std::vector<PredictiveSummary> summaries_;
};

// x^T P x with x = (features, 1): at 0 it is P_00, at +-e_i it is P_ii +- 2 P_i0 + P_00; the rest
// at e_i + e_j gives 2 P_ij.
Eigen::MatrixXd covariance_from(const std::vector<double>& q, Index features, bool intercept) {
  const Index d = features + (intercept ? 1 : 0);
  Eigen::MatrixXd p = Eigen::MatrixXd::Zero(d, d);
  Eigen::VectorXd with_intercept = Eigen::VectorXd::Zero(features);
  std::size_t next = 0;
  const double at_zero = q[next++];
  for (Index i = 0; i < features; ++i) {
    const double plus = q[next++];
    const double minus = q[next++];
    p(i, i) = 0.5 * (plus + minus) - at_zero;
    with_intercept[i] = 0.25 * (plus - minus);
  }
  for (Index i = 0; i < features; ++i) {
    for (Index j = i + 1; j < features; ++j) {
      const double rest = q[next++] - p(i, i) - p(j, j) - at_zero;
      p(i, j) = p(j, i) = 0.5 * rest - with_intercept[i] - with_intercept[j];
    }
  }
  if (intercept) {
    p.col(features).head(features) = with_intercept;
    p.row(features).head(features) = with_intercept.transpose();
    p(features, features) = at_zero;
  }
  return p;
}

std::vector<Probe> probes_for(Index features) {
  std::vector<Probe> probes = {Probe{}};
  for (Index i = 0; i < features; ++i) {
    probes.push_back({i, 1.0, -1});
    probes.push_back({i, -1.0, -1});
  }
  for (Index i = 0; i < features; ++i) {
    for (Index j = i + 1; j < features; ++j) probes.push_back({i, 1.0, j});
  }
  return probes;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Whether a learner rests: one that rests publishes nothing, one that works does so at intervals.
class Rest {
 public:
  // `now`, in seconds, is when the newest snapshot was asked for.
  bool rests(const Provenance& newest, double now) {
    const double age = 1e-9 * static_cast<double>(newest.age_ns);
    const double made = now - age;
    if (snapshot_ != 0 && newest.snapshot_id > snapshot_) {
      const auto snapshots = static_cast<double>(newest.snapshot_id - snapshot_);
      interval_ = std::max(interval_, (made - made_) / snapshots);
    }
    snapshot_ = newest.snapshot_id;
    made_ = made;
    return age > std::max(kShortest, 2 * interval_);
  }

 private:
  static constexpr double kShortest = 0.5;  // seconds

  std::uint64_t snapshot_ = 0;
  double made_ = 0;
  double interval_ = 0;  // the longest between two snapshots
};

}  // namespace

ServedPosterior fetch_posterior(Client& client, double patience_seconds) {
  const auto features = static_cast<Index>(client.welcome().features());
  const bool intercept = client.welcome().dimension() > client.welcome().features();
  const std::vector<Probe> probes = probes_for(features);
  const double deadline = seconds_now() + patience_seconds;
  std::vector<ParameterSummary> parameters;
  std::vector<double> variances;
  Rest rest;
  while (seconds_now() < deadline) {
    ServedPosterior served;
    check_reply(client, client.posterior(parameters, served.provenance),
                "asking for the posterior");
    if (!rest.rests(served.provenance, seconds_now())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    variances.clear();
    if (!Variances(client, served.provenance.snapshot_id).ask(probes, variances)) continue;
    served.covariance = covariance_from(variances, features, intercept);
    const auto d = static_cast<Index>(parameters.size());
    served.mean.resize(d);
    served.mode.resize(d);
    for (Index i = 0; i < d; ++i) {
      served.mean[i] = parameters[static_cast<std::size_t>(i)].mean;
      served.mode[i] = parameters[static_cast<std::size_t>(i)].mode;
    }
    return served;
  }
  throw RunError(fmt::format("the posterior did not come to rest within {} s", patience_seconds));
}

Dataset encoded_rows(const std::string& path, const Schema& schema, std::uint64_t first,
                     std::uint64_t last) {
  Table table(path, schema.table_options());
  const RowEncoder encoder(schema, table);
  Dataset data;
  data.names = schema.feature_names();
  data.target_name = schema.target();
  EncodedRow row;
  for (std::uint64_t index = 0; index < last && table.next();) {
    if (!encoder.encode(table, row)) continue;
    if (index++ < first) continue;
    const std::size_t begin = data.features.size();
    if (schema.sparse()) {
      data.features.resize(begin + data.columns(), 0.0);
      for (std::size_t k = 0; k < row.indices.size(); ++k) {
        data.features[begin + row.indices[k]] = row.values[k];
      }
    } else {
      data.features.insert(data.features.end(), row.values.begin(), row.values.end());
    }
    data.targets.push_back(row.target);
    if (schema.has_offset()) data.offsets.push_back(row.offset);
    if (schema.has_weight()) data.weights.push_back(row.weight);
    if (schema.has_trials()) data.trials.push_back(row.trials);
  }
  return data;
}

}  // namespace windhover
