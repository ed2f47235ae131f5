#include "windhover/tools/bench/sparse_rows.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>

#include "windhover/tools/error.h"
#include "windhover/tools/processor.h"
#include "windhover/tools/temporary_folder.h"

namespace windhover {

namespace {

constexpr std::uint64_t kMostABatch = 256;

}  // namespace

SparseRows::SparseRows(std::uint32_t features, std::uint32_t nonzeros, std::uint64_t count,
                       ColumnLaw law, bool weights)
    : nonzeros_(nonzeros), ones_(kMostABatch * nonzeros, 1.0) {
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> even;
  const std::uint32_t width = features / nonzeros;
  const double log_width = std::log(width);
  std::vector<float> truth(features);
  for (float& effect : truth) effect = static_cast<float>(normal(generator) / std::sqrt(nonzeros));
  indices_.reserve(count * nonzeros);
  for (std::uint64_t i = 0; i < count; ++i) {
    double eta = 0;
    for (std::uint32_t field = 0; field < nonzeros; ++field) {
      const double u = even(generator);
      const double at = law == ColumnLaw::kEven ? u * width : std::exp(u * log_width) - 1;
      const std::uint32_t column =
          field * width + std::min(static_cast<std::uint32_t>(at), width - 1);
      indices_.push_back(column);
      eta += truth[column];
    }
    targets_.push_back(even(generator) < 1 / (1 + std::exp(-eta)) ? 1 : 0);
    if (weights) weights_.push_back(std::exp(normal(generator) - 0.5));
  }
  for (std::uint32_t i = 1; i <= kMostABatch; ++i) ends_.push_back(i * nonzeros);
}

ObservationBatch SparseRows::batch(std::uint64_t first, std::uint64_t count) const {
  ObservationBatch batch;
  batch.rows = count;
  batch.features = reinterpret_cast<const std::byte*>(ones_.data());
  batch.feature_values = count * nonzeros_;
  batch.indices = reinterpret_cast<const std::byte*>(indices(first));
  batch.row_ends = reinterpret_cast<const std::byte*>(ends_.data());
  batch.targets = reinterpret_cast<const std::byte*>(&targets_[first]);
  if (!weights_.empty()) batch.weights = reinterpret_cast<const std::byte*>(&weights_[first]);
  return batch;
}

void SparseRows::write(const std::string& path) const {
  std::ofstream file(path);
  for (std::uint64_t i = 0; i < size(); ++i) {
    fmt::memory_buffer line;
    fmt::format_to(std::back_inserter(line), "{} |", targets_[i] > 0 ? 1 : -1);
    for (std::uint32_t k = 0; k < nonzeros_; ++k)
      fmt::format_to(std::back_inserter(line), " {}", indices(i)[k]);
    line.push_back('\n');
    file.write(line.data(), static_cast<std::streamsize>(line.size()));
  }
  if (!file.flush()) throw RunError(fmt::format("{} cannot be written", path));
}

double descent_seconds(const SparseRows& rows, std::uint32_t features, SparseDescent::Rule rule) {
  constexpr double kRate = 0.1;
  double best = 1e300;
  for (int pass = 0; pass < 3; ++pass) {
    SparseDescent descent(features, rule, SparseDescent::Loss::kLogistic, kRate);
    const double start = thread_seconds();
    for (std::uint64_t i = 0; i < rows.size(); ++i) {
      descent.learn(rows.indices(i), rows.ones(), rows.nonzeros(), rows.target(i));
    }
    best = std::min(best, thread_seconds() - start);
  }
  return best;
}

double vowpal_wabbit_seconds(const SparseRows& rows, std::uint32_t features) {
  if (std::system("command -v vw >/dev/null 2>&1") != 0) return std::nan("");
  const TemporaryFolder folder;
  const std::string path = folder.in("rows.vw");
  rows.write(path);
  const int bits = std::max(1, static_cast<int>(std::ceil(std::log2(features))));
  const std::string command =
      fmt::format("vw --quiet --sgd --loss_function logistic -b {} -d '{}'", bits, path);
  const double start = wall_seconds();
  const int outcome = std::system(command.c_str());
  if (!WIFEXITED(outcome) || WEXITSTATUS(outcome) != 0) {
    throw RunError(fmt::format("\"{}\" did not run", command));
  }
  return wall_seconds() - start;
}

}  // namespace windhover
