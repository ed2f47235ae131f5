#include "windhover/tests/samplers/regression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace windhover {
namespace {

constexpr std::uint64_t kSeed = 0x1234'5678;

Matrix features(const RegressionShape& shape) {
  Matrix x = normals(1, shape.rows, shape.features + 1);
  for (Index j = 1; j < shape.features; ++j) {
    x.col(j) = 0.5 * x.col(j - 1) + std::sqrt(0.75) * x.col(j);
  }
  x.col(shape.features).setOnes();
  return x;
}

Vector targets(const Matrix& x) {
  const Vector spread = (0.25 + 0.75 * x.col(0).array().square()).sqrt();
  return x * Vector::LinSpaced(x.cols(), -1.0, 1.0) + spread.cwiseProduct(normals(2, x.rows(), 1));
}

}  // namespace

Regression::Regression(const RegressionShape& shape)
    : shape_(shape),
      config_{.features = static_cast<std::uint32_t>(shape.features)},
      x_(features(shape)),
      y_(targets(x_)),
      table_(config_, x_.leftCols(shape.features), y_),
      prior_(Vector::Ones(dimension())) {
  const double n = static_cast<double>(shape.rows);
  estimates.n = n;
  estimates.minibatch_size = static_cast<double>(shape.minibatch_size);
  second_moment_ = x_.transpose() * x_ / (n * kDispersion);
  estimates.curvature = second_moment_ + Matrix(prior_.asDiagonal()) / n;
  mode = estimates.curvature.llt().solve(x_.transpose() * y_ / (n * kDispersion));
  const Matrix gradients = ((x_ * mode - y_) / kDispersion).asDiagonal() * x_;
  const Matrix centred = gradients.rowwise() - gradients.colwise().mean();
  estimates.noise = centred.transpose() * centred / n;
}

Matrix Regression::posterior_precision() const { return estimates.n * estimates.curvature; }

Matrix Regression::noise_of_spread(const Matrix& sigma) const {
  const Vector leverage = (x_ * sigma).cwiseProduct(x_).rowwise().sum();
  return x_.transpose() * (leverage / (kDispersion * kDispersion)).asDiagonal() * x_ / estimates.n -
         second_moment_ * sigma * second_moment_;
}

Matrix Regression::transition(const Law& law) const {
  const Index d = dimension();
  const Matrix ha = law.h * estimates.curvature;
  const Matrix identity = Matrix::Identity(d, d);
  if (law.momentum == 0) return identity - ha;
  Matrix r(2 * d, 2 * d);
  r << identity - ha, law.momentum * identity, -ha, law.momentum * identity;
  return r;
}

Matrix Regression::exact_state_covariance(const Law& law, const Matrix& noise_at_mode) const {
  const Index d = dimension();
  const Matrix r = transition(law);
  const Index m = r.rows();
  Matrix input(m, d);
  for (Index i = 0; i < m; i += d) input.middleRows(i, d) = law.h;
  Matrix sigma = Matrix::Zero(m, m);
  Matrix system = Matrix::Identity(m * m, m * m);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) system.block(i * m, j * m, m, m) -= r(i, j) * r;
  }
  const Eigen::PartialPivLU<Matrix> solver(system);
  for (int round = 0; round < 200; ++round) {
    const Matrix noise =
        (noise_at_mode + noise_of_spread(sigma.topLeftCorner(d, d))) / estimates.minibatch_size +
        law.injected;
    const Matrix q = input * noise * input.transpose();
    const Vector solution = solver.solve(Eigen::Map<const Vector>(q.data(), m * m));
    sigma = Eigen::Map<const Matrix>(solution.data(), m, m);
  }
  return 0.5 * (sigma + sigma.transpose());
}

Matrix Regression::exact_covariance(const Law& law) const {
  return exact_state_covariance(law, estimates.noise).topLeftCorner(dimension(), dimension());
}

Matrix Regression::average_noise() const {
  return estimates.noise + noise_of_spread(posterior_precision().inverse());
}

double Regression::relaxation(const Law& law) const {
  return -1.0 / std::log(transition(law).eigenvalues().cwiseAbs().maxCoeff());
}

Vector Regression::full_gradient(const Vector& theta) const {
  return estimates.curvature * (theta - mode);
}

Fit::Fit(Index d) : sum_(Vector::Zero(d)), second_(Matrix::Zero(d, d)) {}

void Fit::add(const Vector& deviation) {
  sum_ += deviation;
  second_.selfadjointView<Eigen::Lower>().rankUpdate(deviation);
  ++count_;
}

Vector Fit::mean() const { return sum_ / static_cast<double>(count_); }

Matrix Fit::covariance() const {
  const Matrix full = second_.selfadjointView<Eigen::Lower>();
  return full / static_cast<double>(count_) - mean() * mean().transpose();
}

ChainRunner::ChainRunner(const Regression& problem, std::string_view name,
                         const SamplerConfig& config)
    : problem_(problem),
      model_(made(problem.config())),
      source_(model_, static_cast<std::uint32_t>(problem.dimension()), problem.prior().data()),
      entry_(*find_sampler(name)),
      state_(entry_.state_size(config, static_cast<std::uint32_t>(problem.dimension()))),
      work_(step_scratch(static_cast<std::uint32_t>(problem.dimension()))),
      sampler_(
          entry_.make(memory_.arena(), config, static_cast<std::uint32_t>(problem.dimension()))),
      slots_(problem.shape().minibatch_size),
      order_(static_cast<std::size_t>(problem.shape().rows)) {
  source_.set_scale(problem.estimates.n, Regression::kDispersion);
  source_.set_minibatch(problem.batch(slots_));
  EXPECT_EQ(sampler_->refresh(problem.estimates.view()), Status::kOk);
}

Law ChainRunner::law() const { return law_of(*sampler_, problem_.dimension()); }

void ChainRunner::run(Vector& theta, std::uint16_t chain, int steps, Draws draws,
                      const std::function<void(const Vector&)>& visit) {
  Chain state{theta.data(), chain, state_.data(), work_.data()};
  Rng initial(kSeed, {.chain = chain, .purpose = Purpose::kInitialState});
  sampler_->start(state, initial);
  for (int step = 0; step < steps; ++step) {
    draw(static_cast<std::uint64_t>(step), chain, draws);
    Rng rng(kSeed, {.step = static_cast<std::uint64_t>(step),
                    .chain = chain,
                    .purpose = Purpose::kInjectedNoise});
    ASSERT_EQ(sampler_->step(state, source_, rng), Status::kOk);
    visit(theta);
  }
}

Model* ChainRunner::made(const ModelConfig& config) {
  const ModelEntry* entry = find_model("linear");
  Model* model = entry->make(memory_.arena(), config);
  entry->reset(*model);
  return model;
}

void ChainRunner::draw(std::uint64_t step, std::uint16_t chain, Draws draws) {
  if (draws != Draws::kEpochs) {
    const std::uint16_t source = draws == Draws::kShared ? std::uint16_t{0} : chain;
    fill_indices(kSeed, {.step = step, .chain = source, .purpose = Purpose::kMinibatch},
                 static_cast<std::uint32_t>(order_.size()), slots_);
    return;
  }
  const std::uint64_t steps_a_pass = order_.size() / slots_.size();
  if (step % steps_a_pass == 0) shuffle(step, chain);
  const auto first =
      order_.begin() + static_cast<std::ptrdiff_t>((step % steps_a_pass) * slots_.size());
  std::copy_n(first, slots_.size(), slots_.begin());
}

void ChainRunner::shuffle(std::uint64_t step, std::uint16_t chain) {
  std::iota(order_.begin(), order_.end(), 0U);
  std::vector<double> uniforms(order_.size());
  fill_uniforms(kSeed, {.step = step, .chain = chain, .purpose = Purpose::kMinibatch}, uniforms);
  for (std::size_t i = order_.size() - 1; i > 0; --i) {
    std::swap(order_[i],
              order_[static_cast<std::size_t>(uniforms[i] * static_cast<double>(i + 1))]);
  }
}

}  // namespace windhover
