#include "windhover/tests/samplers/support.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace windhover {

Matrix normals(std::uint64_t seed, Index rows, Index columns) {
  Matrix z(rows, columns);
  fill_normals(seed, {}, {z.data(), static_cast<std::size_t>(z.size())});
  return z;
}

Matrix random_covariance(std::uint64_t seed, Index d) {
  const Matrix z = normals(seed, d, 2 * d);
  return z * z.transpose() / static_cast<double>(2 * d);
}

Matrix random_singular(std::uint64_t seed, Index d, Index rank) {
  const Matrix z = normals(seed, d, rank);
  return z * z.transpose() / static_cast<double>(d);
}

double relative_difference(const Matrix& a, const Matrix& b) {
  return (a - b).cwiseAbs().maxCoeff() / (b.cwiseAbs().maxCoeff() + 1e-300);
}

Eigen::SelfAdjointEigenSolver<Matrix> symmetric_eigen(const Matrix& matrix) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(matrix);
}

Vector generalized_eigenvalues(const Matrix& a, const Matrix& b) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<Matrix>(a, b).eigenvalues();
}

double spectral_radius(const Matrix& matrix) { return matrix.eigenvalues().cwiseAbs().maxCoeff(); }

double gaussian_kl(const Matrix& sigma, const Matrix& precision, const Vector& m) {
  const Matrix root = precision.llt().matrixL();
  const Vector eigenvalues = symmetric_eigen(root.transpose() * sigma * root).eigenvalues();
  double kl = 0.5 * (root.transpose() * m).squaredNorm();
  for (const double lambda : eigenvalues) kl += 0.5 * (lambda - 1.0 - std::log(lambda));
  return kl;
}
double gaussian_kl(const Matrix& sigma, const Matrix& precision) {
  return gaussian_kl(sigma, precision, Vector::Zero(sigma.rows()));
}

Law law_of(const AnySampler& sampler, Index d) {
  Law law{Matrix::Constant(d, d, NAN), Matrix::Constant(d, d, NAN), sampler.momentum()};
  sampler.law(law.h.data(), law.injected.data());
  return law;
}

std::optional<Law> law_of(std::string_view name, const SamplerConfig& config,
                          const OwnedEstimates& estimates) {
  Memory memory;
  const Index d = estimates.curvature.rows();
  AnySampler* sampler =
      find_sampler(name)->make(memory.arena(), config, static_cast<std::uint32_t>(d));
  if (!ok(sampler->refresh(estimates.view()))) return std::nullopt;
  return law_of(*sampler, d);
}

OwnedChain::OwnedChain(const SamplerEntry& entry, const SamplerConfig& config, const Vector& theta)
    : theta_(theta),
      state_(Vector::Constant(
          static_cast<Index>(entry.state_size(config, static_cast<std::uint32_t>(theta.size()))) +
              kGuard,
          NAN)),
      work_(Vector::Constant(
          static_cast<Index>(step_scratch(static_cast<std::uint32_t>(theta.size()))) + kGuard,
          NAN)),
      chain_{theta_.data(), 0, state_.data(), work_.data()} {}

Eigen::VectorBlock<const Vector> OwnedChain::state() const {
  return state_.head(state_.size() - kGuard);
}

bool OwnedChain::guard_is_untouched() const {
  return state_.tail(kGuard).array().isNaN().all() && work_.tail(kGuard).array().isNaN().all();
}

SamplerConfig noiseless_config() {
  SamplerConfig config;
  config.injected_noise = 0;
  config.noise_scale = 0;
  config.temperature = 0;
  return config;
}

std::string test_name(std::string_view name) {
  std::string result(name);
  for (char& c : result) c = c == '-' ? '_' : c;
  return result;
}

Table::Table(const ModelConfig& config, const Matrix& x, const Vector& y, double padding,
             const Vector& offsets, const Vector& weights)
    : layout_(config) {
  const auto rows = static_cast<std::size_t>(x.rows());
  storage_.assign(rows * layout_.stride(), padding);
  slots_.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    slots_[i] = static_cast<std::uint32_t>(i);
    double* row = storage_.data() + i * layout_.stride();
    write(x.row(static_cast<Index>(i)), y(static_cast<Index>(i)), row);
    if (layout_.has_offset()) {
      row[layout_.offset_index()] = offsets.size() > 0 ? offsets[static_cast<Index>(i)] : 0.0;
    }
    if (layout_.has_trials()) {
      const double successes = y(static_cast<Index>(i));
      row[layout_.trials_index()] = std::max(successes + std::fmod(successes, 3), 1.0);
    }
    if (layout_.has_weight()) {
      row[layout_.weight_index()] = weights.size() > 0 ? weights[static_cast<Index>(i)] : 1.0;
    }
  }
}

void Table::write(const Eigen::RowVectorXd& x, double y, double* row) const {
  row[layout_.target_index()] = y;
  if (!layout_.sparse()) {
    for (Index j = 0; j < x.size(); ++j) row[j] = x(j);
    return;
  }
  std::uint32_t count = 0;
  auto* indices = reinterpret_cast<std::uint32_t*>(row + layout_.indices_index());
  for (Index j = 0; j < x.size(); ++j) {
    if (x(j) == 0) continue;
    row[RowLayout::kValuesIndex + count] = x(j);
    indices[count++] = static_cast<std::uint32_t>(j);
  }
  row[RowLayout::kCountIndex] = count;
}

void RowGradientModel::gradient_sum(const RowBatch& batch, const double*,
                                    double* gradient) noexcept {
  for (std::size_t j = 0; j < layout_.features(); ++j) {
    gradient[j] = 0;
    for (std::size_t i = 0; i < batch.count; ++i) gradient[j] += row(batch, i)[j];
  }
}

void RowGradientModel::add_noise(const RowBatch& batch, const double*, NoiseSums& sums) noexcept {
  const std::size_t d = layout_.features();
  for (std::size_t i = 0; i < batch.count; ++i) {
    const double* g = row(batch, i);
    for (std::size_t j = 0; j < d; ++j) {
      sums.gradient[j] += g[j];
      for (std::size_t k = 0; k < d; ++k) sums.outer[j * matrix_width(d) + k] += g[j] * g[k];
    }
  }
  sums.rows += static_cast<double>(batch.count);
}

void RowGradientModel::add_noise_variances(const RowBatch& batch, const double*,
                                           NoiseVarianceSums& sums) noexcept {
  for (std::size_t i = 0; i < batch.count; ++i) {
    const double* g = row(batch, i);
    for (std::size_t j = 0; j < layout_.features(); ++j) {
      sums.gradient[j] += g[j];
      sums.squares[j] += g[j] * g[j];
    }
  }
  sums.rows += static_cast<double>(batch.count);
}

void FunctionModel::gradient_sum(const RowBatch& batch, const double* theta,
                                 double* gradient) noexcept {
  gradient_(theta, gradient);
  for (std::size_t j = 0; j < dimension_; ++j) gradient[j] *= static_cast<double>(batch.count);
}

FunctionGradient::FunctionGradient(Index dimension, FunctionModel::Gradient gradient)
    : model_(dimension, std::move(gradient)),
      prior_(Vector::Zero(dimension)),
      source_(&model_, static_cast<std::uint32_t>(dimension), prior_.data()) {
  source_.set_scale(1.0, 1.0);
  source_.set_minibatch({nullptr, &slot_, 1});
}

}  // namespace windhover
