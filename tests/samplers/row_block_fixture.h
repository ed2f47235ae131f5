// What the tests of row blocks share: sparse rows, their exact posterior, and chains.
#ifndef WINDHOVER_TESTS_SAMPLERS_ROW_BLOCK_FIXTURE_H_
#define WINDHOVER_TESTS_SAMPLERS_ROW_BLOCK_FIXTURE_H_

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "windhover/samplers/row_blocks/row_block_langevin.h"
#include "windhover/tests/samplers/support.h"

namespace windhover::row_block_langevin_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Sparse rows, and where they lie.
class SparseData {
 public:
  explicit SparseData(const ModelConfig& model) : layout_(model) {}

  void add(const std::vector<std::uint32_t>& columns, const std::vector<double>& values,
           double target, double weight = 1, double offset = 0) {
    rows_.resize(rows_.size() + layout_.stride());
    double* row = &rows_[rows_.size() - layout_.stride()];
    row[0] = target;
    row[RowLayout::kCountIndex] = static_cast<double>(columns.size());
    std::copy(values.begin(), values.end(), row + RowLayout::kValuesIndex);
    auto* indices = reinterpret_cast<std::uint32_t*>(row + layout_.indices_index());
    std::copy(columns.begin(), columns.end(), indices);
    if (layout_.has_weight()) row[layout_.weight_index()] = weight;
    if (layout_.has_offset()) row[layout_.offset_index()] = offset;
  }
  std::size_t size() const { return rows_.size() / layout_.stride(); }
  const double* row(std::size_t i) const { return &rows_[i * layout_.stride()]; }
  const double* base() const { return rows_.data(); }

  // The features with a last column of ones.
  MatrixXd design(std::size_t first, std::size_t last) const {
    const auto rows = static_cast<Index>(last - first);
    MatrixXd x = MatrixXd::Zero(rows, Index{layout_.features()} + 1);
    for (Index i = 0; i < rows; ++i) {
      const SparseRow sparse(layout_, row(first + static_cast<std::size_t>(i)));
      for (std::size_t k = 0; k < sparse.count; ++k) x(i, sparse.indices[k]) = sparse.values[k];
      x(i, layout_.features()) = 1;
    }
    return x;
  }
  VectorXd targets(std::size_t first, std::size_t last) const {
    VectorXd y(static_cast<Index>(last - first));
    for (Index i = 0; i < y.size(); ++i) y[i] = row(first + static_cast<std::size_t>(i))[0];
    return y;
  }
  VectorXd weights(std::size_t first, std::size_t last) const {
    VectorXd w(static_cast<Index>(last - first));
    for (Index i = 0; i < w.size(); ++i) {
      w[i] = layout_.weight(row(first + static_cast<std::size_t>(i)));
    }
    return w;
  }

  // Rows [first, last), each of those that are equal once, with the sum of their weights: most have
  // few values, and the likelihood is the same.
  struct Distinct {
    Eigen::SparseMatrix<double, Eigen::RowMajor> x;  // as of design()
    VectorXd y, weights, offsets;
  };
  Distinct distinct(std::size_t first, std::size_t last) const {
    const MatrixXd x = design(first, last);
    std::map<std::vector<double>, std::pair<Index, double>> weights;  // by all else of a row
    for (std::size_t i = first; i < last; ++i) {
      const auto number = static_cast<Index>(i - first);
      std::vector<double> rest(x.row(number).begin(), x.row(number).end());
      rest.insert(rest.end(), {row(i)[0], layout_.offset(row(i))});
      weights.try_emplace(rest, number, 0.0).first->second.second += layout_.weight(row(i));
    }
    const auto count = static_cast<Index>(weights.size());
    MatrixXd kept(count, x.cols());
    Distinct all{{}, VectorXd(count), VectorXd(count), VectorXd(count)};
    Index at = 0;
    for (const auto& [rest, numbered] : weights) {
      kept.row(at) = x.row(numbered.first);
      all.y[at] = rest[rest.size() - 2];
      all.offsets[at] = rest.back();
      all.weights[at++] = numbered.second;
    }
    all.x = kept.sparseView();
    return all;
  }

 private:
  RowLayout layout_;
  std::vector<double> rows_;
};

inline double uniform(std::uint64_t step) {
  double u = 0;
  fill_uniforms(5, {step, 0, Purpose::kTest}, {&u, 1});
  return u;
}

inline ModelConfig model_of(std::uint32_t features, std::uint32_t nonzeros, double precision) {
  ModelConfig model;
  model.name = "logistic";
  model.features = features;
  model.max_nonzeros = nonzeros;
  model.prior_precision = model.intercept_precision = precision;
  return model;
}

// Two categories and their crossing: columns that say the same twice over, of which only the prior
// tells which it was; the first categories are frequent and the last rare.
inline constexpr std::uint32_t kFirst = 6;
inline constexpr std::uint32_t kSecond = 8;
inline constexpr std::uint32_t kCrossed = kFirst + kSecond + kFirst * kSecond;

inline SparseData crossed_rows(const ModelConfig& model, std::size_t rows, double value = 1,
                               const std::vector<double>& weights = {}) {
  SparseData data(model);
  for (std::size_t i = 0; i < rows; ++i) {
    const double u = uniform(3 * i);
    const double v = uniform(3 * i + 1);
    const auto a = static_cast<std::uint32_t>(kFirst * u * u);
    const auto b = static_cast<std::uint32_t>(kSecond * v * v);
    const double eta = 0.5 * std::sin(a + 1.0) + 0.8 * std::cos(2.0 * b) + 0.5 * std::sin(a * b);
    const double y = uniform(3 * i + 2) < 1 / (1 + std::exp(-eta)) ? 1 : 0;
    data.add({a, kFirst + b, kFirst + kSecond + a * kSecond + b}, {value, 1, value}, y,
             weights.empty() ? 1 : weights[i]);
  }
  return data;
}

// -log p of a row and its derivatives at the linear predictor eta.
struct Likelihood {
  double (*loss)(double eta, double y);
  double (*residual)(double eta, double y);
  double (*curvature)(double eta, double y);
};

inline constexpr Likelihood kLogistic = {
    [](double eta, double y) { return std::log1p(std::exp(eta)) - y * eta; },
    [](double eta, double y) { return 1 / (1 + std::exp(-eta)) - y; },
    [](double eta, double) {
      const double p = 1 / (1 + std::exp(-eta));
      return p * (1 - p);
    }};

// Mean and covariance of a posterior by Hamiltonian steps in units of Laplace's
// approximation, from 40,000 draws: within 0.01 sd.
struct Moments {
  VectorXd mean;
  MatrixXd covariance;
};

inline Moments exact_moments(const SparseData& data, std::size_t first, std::size_t last,
                             double precision, const Likelihood& likelihood = kLogistic) {
  const auto [x, y, weights, offsets] = data.distinct(first, last);
  const Index d = x.cols();
  const auto of_rows = [&](const VectorXd& theta, auto what) -> VectorXd {
    return weights.cwiseProduct((offsets + x * theta).binaryExpr(y, what));
  };
  const auto gradient = [&](const VectorXd& theta) -> VectorXd {
    return x.transpose() * of_rows(theta, likelihood.residual) + precision * theta;
  };
  const auto potential = [&](const VectorXd& theta) {
    return of_rows(theta, likelihood.loss).sum() + 0.5 * precision * theta.squaredNorm();
  };
  VectorXd mode = VectorXd::Zero(d);
  MatrixXd root;
  for (int step = 0; step < 30; ++step) {
    const VectorXd w = of_rows(mode, likelihood.curvature);
    MatrixXd h = x.transpose() * w.asDiagonal() * x;
    h.diagonal().array() += precision;
    const Eigen::LLT<MatrixXd> factor(h);
    VectorXd change = factor.solve(gradient(mode));
    while (!(potential(mode - change) <= potential(mode)) && change.norm() > 1e-9) change /= 2;
    mode -= change;
    root = factor.matrixU().solve(MatrixXd::Identity(d, d));
  }
  constexpr int kDraws = 40'000;
  constexpr double kStep = 0.35;
  std::vector<double> normals(static_cast<std::size_t>(d));
  VectorXd z = VectorXd::Zero(d);
  VectorXd sum = VectorXd::Zero(d);
  MatrixXd squares = MatrixXd::Zero(d, d);
  double at = potential(mode);
  const auto pull = [&](const VectorXd& from) -> VectorXd {
    return root.transpose() * gradient(mode + root * from);
  };
  VectorXd here = pull(z);
  for (int draw = 0; draw < kDraws; ++draw) {
    fill_normals(11, {static_cast<std::uint64_t>(draw), 0, Purpose::kTest}, normals);
    VectorXd momentum = Eigen::Map<VectorXd>(normals.data(), d);
    const double before = at + 0.5 * momentum.squaredNorm();
    VectorXd proposal = z;
    VectorXd force = here;
    for (int leap = 0; leap < 4; ++leap) {
      momentum -= 0.5 * kStep * force;
      proposal += kStep * momentum;
      force = pull(proposal);
      momentum -= 0.5 * kStep * force;
    }
    const double there = potential(mode + root * proposal);
    const double after = there + 0.5 * momentum.squaredNorm();
    if (std::log(uniform(1'000'000 + static_cast<std::uint64_t>(draw))) < before - after) {
      z = proposal;
      at = there;
      here = force;
    }
    const VectorXd theta = root * z;
    sum += theta;
    squares += theta * theta.transpose();
  }
  const VectorXd mean = sum / kDraws;
  return {mode + mean, squares / kDraws - mean * mean.transpose()};
}

// Chains in a block of their own.
class Chains {
 public:
  Chains(const ModelConfig& model, std::uint32_t chains, std::size_t slots, std::uint64_t seed,
         std::uint64_t past = 0)
      : seed_(seed), memory_(bytes(model, chains, slots, past)) {
    Arena& arena = memory_.arena();
    sampler_ = arena.make<RowBlockLangevin>(arena, model, chains, slots, seed, past);
    sampler_->reset();
  }
  RowBlockLangevin& operator*() { return *sampler_; }
  RowBlockLangevin* operator->() { return sampler_; }

  // All chains on `moves` of the rows [first, last), whose slots are their numbers.
  void move(const SparseData& data, std::size_t first, std::size_t last, std::size_t moves) {
    std::vector<std::uint32_t> slots(moves);
    draw(first, last, slots);
    sampler_->move(round_, {data.base(), slots.data(), moves});
    ++round_;
    for (std::size_t i = 0; i < moves / 4; ++i, ++bound_) {
      if (bound_ < first || bound_ >= last) bound_ = first;
      sampler_->steps().follow_bound(data.row(bound_), static_cast<std::uint32_t>(bound_));
    }
  }
  void draw(std::size_t first, std::size_t last, std::span<std::uint32_t> slots) const {
    fill_indices(seed_, {round_, 0, Purpose::kMinibatch}, static_cast<std::uint32_t>(last - first),
                 slots);
    for (std::uint32_t& slot : slots) slot += static_cast<std::uint32_t>(first);
    if (!sampler_->weighs_rows()) return;
    std::vector<double> uniforms(slots.size());
    fill_uniforms(seed_, {round_, 0, Purpose::kTest}, uniforms);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      slots[i] = sampler_->weights().slot_of(uniforms[i], slots[i]);
    }
  }
  VectorXd theta(std::uint16_t chain) const {
    VectorXd theta(sampler_->positions().columns());
    for (std::uint32_t j = 0; j < sampler_->positions().columns(); ++j)
      theta[j] = sampler_->theta(chain, j);
    return theta;
  }

 private:
  static std::size_t bytes(const ModelConfig& model, std::uint32_t chains, std::size_t slots,
                           std::uint64_t past) {
    Arena arena = Arena::measuring();
    (void)arena.make<RowBlockLangevin>(arena, model, chains, slots, 0, past);
    return arena.used();
  }

  std::uint64_t seed_;
  Memory memory_;
  RowBlockLangevin* sampler_ = nullptr;
  std::uint64_t round_ = 0;
  std::size_t bound_ = 0;
};

// What chains of many seeds come to, each after its moves: independent draws.
class Draws {
 public:
  void add(const VectorXd& theta) { all_.push_back(theta); }
  double count() const { return static_cast<double>(all_.size()); }
  // Moments of the linear predictors x theta, or of the parameters themselves.
  Moments moments(const MatrixXd& x) const {
    VectorXd sum = VectorXd::Zero(x.rows());
    MatrixXd squares = MatrixXd::Zero(x.rows(), x.rows());
    for (const VectorXd& theta : all_) {
      const VectorXd eta = x * theta;
      sum += eta;
      squares += eta * eta.transpose();
    }
    const VectorXd mean = sum / count();
    return {mean, squares / count() - mean * mean.transpose()};
  }

 private:
  std::vector<VectorXd> all_;
};

// Means within 5 standard errors and 0.1 sd, every sd within 5 of its own and 10 %; on average over
// the directions within 3 %.
inline void expect_law(const Draws& draws, const Moments& exact, const MatrixXd& directions) {
  const Moments seen = draws.moments(directions);
  const VectorXd mean = directions * exact.mean;
  const VectorXd variance = (directions * exact.covariance * directions.transpose()).diagonal();
  const double error = 1 / std::sqrt(draws.count());
  double ratios = 0;
  for (Index j = 0; j < mean.size(); ++j) {
    const double sd = std::sqrt(variance[j]);
    EXPECT_NEAR(seen.mean[j], mean[j], (5 * error + 0.1) * sd) << j;
    const double ratio = std::sqrt(seen.covariance(j, j)) / sd;
    EXPECT_NEAR(ratio, 1, 5 * error / std::sqrt(2) + 0.1) << j;
    ratios += ratio / static_cast<double>(mean.size());
  }
  EXPECT_NEAR(ratios, 1, 0.03 + 3 * error / std::sqrt(2));
}

}  // namespace windhover::row_block_langevin_test

#endif  // WINDHOVER_TESTS_SAMPLERS_ROW_BLOCK_FIXTURE_H_
