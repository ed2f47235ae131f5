#include "windhover/tests/runtime/engine_fixture.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace windhover::test {
namespace {

std::size_t bytes_for(const EngineConfig& config) {
  const auto bytes = Engine::footprint(config);
  EXPECT_TRUE(bytes.ok()) << bytes.error().sentence;
  return bytes.ok() ? bytes.value() : 64;
}

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

}  // namespace

VectorXd normals(std::uint64_t seed, Index count) {
  VectorXd z(count);
  fill_normals(seed, {0, 0, Purpose::kTest}, {z.data(), static_cast<std::size_t>(count)});
  return z;
}

VectorXd uniforms(std::uint64_t seed, Index count) {
  VectorXd u(count);
  fill_uniforms(seed, {1, 0, Purpose::kTest}, {u.data(), static_cast<std::size_t>(count)});
  return u;
}

MatrixXd Data::design() const {
  MatrixXd d(x.rows(), x.cols() + 1);
  d << x, VectorXd::Ones(x.rows());
  return d;
}

RowMatrix autoregressive_rows(Index rows, Index features, double rho, std::uint64_t seed) {
  const VectorXd z = normals(seed, rows * features);
  RowMatrix x(rows, features);
  const double fresh = std::sqrt(1 - rho * rho);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < features; ++j) {
      const double e = z[i * features + j];
      x(i, j) = j == 0 ? e : rho * x(i, j - 1) + fresh * e;
    }
  }
  return x;
}

VectorXd autoregressive_noise(Index rows, double rho, std::uint64_t seed) {
  VectorXd e = normals(seed, rows);
  const double fresh = std::sqrt(1 - rho * rho);
  for (Index i = 1; i < rows; ++i) e[i] = rho * e[i - 1] + fresh * e[i];
  return e;
}

VectorXd coefficients(Index dimension, std::uint64_t seed) {
  return 0.5 * normals(seed, dimension);
}

Data linear_data(Index rows, Index features, double noise_sd, std::uint64_t seed, double rho) {
  Data data;
  data.x = autoregressive_rows(rows, features, rho, 4 * seed);
  data.truth = coefficients(features + 1, 4 * seed + 1);
  data.y = data.design() * data.truth + noise_sd * normals(4 * seed + 2, rows);
  return data;
}

Data inverted_data(Index rows, Index features, double intercept, std::uint64_t seed,
                   double (*outcome)(double eta, double u)) {
  Data data;
  data.x = autoregressive_rows(rows, features, 0.5, 4 * seed);
  data.truth = coefficients(features + 1, 4 * seed + 1);
  data.truth[features] = intercept;
  const VectorXd eta = data.design() * data.truth;
  const VectorXd u = uniforms(4 * seed + 2, rows);
  data.y.resize(rows);
  for (Index i = 0; i < rows; ++i) data.y[i] = outcome(eta[i], u[i]);
  return data;
}

Data logistic_data(Index rows, Index features, double intercept, std::uint64_t seed) {
  return inverted_data(rows, features, intercept, seed, [](double eta, double u) {
    return u < 1 / (1 + std::exp(-eta)) ? 1.0 : 0.0;
  });
}

VectorXd prior_precisions(Index dimension, const ModelConfig& model) {
  VectorXd p = VectorXd::Constant(dimension, model.prior_precision);
  if (model.intercept) p[dimension - 1] = model.intercept_precision;
  return p;
}

Gaussian linear_posterior(const MatrixXd& design, const VectorXd& y, double noise_variance,
                          const ModelConfig& model) {
  MatrixXd precision = design.transpose() * design / noise_variance;
  precision.diagonal() += prior_precisions(design.cols(), model);
  Gaussian g;
  g.covariance = precision.inverse();
  g.mean = g.covariance * (design.transpose() * y) / noise_variance;
  return g;
}

double kl(const Gaussian& q, const Gaussian& p) {
  const Eigen::LLT<MatrixXd> lp(p.covariance);
  const Eigen::LLT<MatrixXd> lq(q.covariance);
  const VectorXd d = q.mean - p.mean;
  double log_ratio = 0;
  for (Index i = 0; i < d.size(); ++i) {
    log_ratio += 2 * std::log(lp.matrixLLT()(i, i)) - 2 * std::log(lq.matrixLLT()(i, i));
  }
  return 0.5 * (lp.solve(q.covariance).trace() + d.dot(lp.solve(d)) -
                static_cast<double>(d.size()) + log_ratio);
}

Trace::Trace(const VectorXd& centre)
    : centre_(centre),
      sum_(VectorXd::Zero(centre.size())),
      squares_(MatrixXd::Zero(centre.size(), centre.size())) {}

void Trace::add(void* self, std::uint16_t, const double* theta) noexcept {
  auto& trace = *static_cast<Trace*>(self);
  const VectorXd d = Eigen::Map<const VectorXd>(theta, trace.centre_.size()) - trace.centre_;
  trace.sum_ += d;
  trace.squares_.noalias() += d * d.transpose();
  trace.count_ += 1;
}

Gaussian Trace::moments() const {
  const VectorXd mean = sum_ / count_;
  return {centre_ + mean, squares_ / count_ - mean * mean.transpose()};
}

TestEngine::TestEngine(const EngineConfig& config, Clock* clock, unsigned char fill)
    : block_(bytes_for(config)), engine_(nullptr) {
  if (fill != 0) std::memset(block_.bytes().data(), fill, block_.bytes().size());
  const auto created =
      Engine::create(config, block_.bytes(), clock != nullptr ? *clock : real_clock());
  if (!created.ok()) {
    ADD_FAILURE() << created.error().sentence << " " << created.error().number;
    std::abort();
  }
  engine_ = created.value();
}

void TestEngine::feed(const Data& data, Index first, Index last) {
  const Index most =
      static_cast<Index>(std::min<std::uint64_t>(256, engine_->config().window_slack / 2));
  for (Index i = first; i < last;) {
    const Index rows = std::min(most, last - i);
    const ObserveResult result = engine_->observe(batch(data, i, rows), {});
    if (result.status == Status::kWindowFull) {
      engine_->poll(1);
      continue;
    }
    ASSERT_EQ(result.status, Status::kOk);
    ASSERT_EQ(result.accepted, static_cast<std::size_t>(rows));
    i += rows;
  }
}

ObservationBatch TestEngine::batch(const Data& data, Index first, Index rows) {
  ObservationBatch b;
  b.rows = static_cast<std::size_t>(rows);
  b.features = reinterpret_cast<const std::byte*>(data.x.data() + first * data.x.cols());
  b.feature_values = static_cast<std::size_t>(rows * data.x.cols());
  b.targets = reinterpret_cast<const std::byte*>(data.y.data() + first);
  if (data.offset.size() > 0) {
    b.offsets = reinterpret_cast<const std::byte*>(data.offset.data() + first);
  }
  if (data.weight.size() > 0) {
    b.weights = reinterpret_cast<const std::byte*>(data.weight.data() + first);
  }
  if (data.trials.size() > 0) {
    b.trials = reinterpret_cast<const std::byte*>(data.trials.data() + first);
  }
  return b;
}

std::uint64_t TestEngine::poll_until_idle() {
  std::uint64_t rounds = 0;
  while (const int done = engine_->poll(256)) {
    rounds += static_cast<std::uint64_t>(done);
    if (rounds > 5'000'000) {
      ADD_FAILURE() << "the learner never rests";
      break;
    }
  }
  return rounds;
}

void TestEngine::poll_rounds(std::uint64_t rounds) {
  while (rounds > 0) {
    const int done = engine_->poll(static_cast<int>(std::min<std::uint64_t>(rounds, 256)));
    if (done == 0) break;
    rounds -= static_cast<std::uint64_t>(done);
  }
  engine_->poll(0);
}

bool TestEngine::poll_until_sampling(int limit) {
  for (int i = 0; i < limit && engine_->learner().view().phase != Learner::Phase::kSampling; ++i) {
    if (engine_->poll(1) == 0) break;
  }
  return engine_->learner().view().phase == Learner::Phase::kSampling;
}

Gaussian TestEngine::summary() {
  const Estimator& e = engine_->learner().view().estimator();
  const Index d = engine_->dimension();
  return {Eigen::Map<const VectorXd>(e.laplace().mean(), d),
          Eigen::Map<const MatrixXd>(e.laplace().covariance(), d, d)};
}

Reader& TestEngine::reader() {
  if (!reader_) reader_ = std::make_unique<Reader>(engine_->reader().value());
  return *reader_;
}

std::vector<ParameterSummary> TestEngine::parameters(Provenance* provenance) {
  std::vector<ParameterSummary> summaries(engine_->dimension());
  Provenance ignored;
  EXPECT_EQ(reader().posterior(summaries, provenance != nullptr ? *provenance : ignored),
            Status::kOk);
  return summaries;
}

Provenance TestEngine::provenance() {
  Provenance p;
  parameters(&p);
  return p;
}

std::vector<PredictiveSummary> TestEngine::answers(const PredictRequest& request,
                                                   Provenance* provenance) {
  std::vector<PredictiveSummary> summaries(request.rows);
  Provenance ignored;
  EXPECT_EQ(reader().predict(request, summaries, provenance != nullptr ? *provenance : ignored),
            Status::kOk);
  return summaries;
}

RowMatrix TestEngine::draws() {
  const std::size_t count = engine_->config().retained_draws;
  RowMatrix out(static_cast<Index>(count), static_cast<Index>(engine_->dimension()));
  Provenance p;
  EXPECT_EQ(reader().draws(0, 0, count, {out.data(), static_cast<std::size_t>(out.size())}, p),
            Status::kOk);
  reader().release();
  return out;
}

Gaussian drawn_of(TestEngine& engine, const Data& data, std::uint64_t rounds) {
  engine.feed(data);
  EXPECT_TRUE(engine.poll_until_sampling());
  Trace trace(engine.summary().mean);
  engine->learner().set_trace(Trace::add, &trace);
  engine.poll_rounds(rounds);
  engine->learner().set_trace(nullptr, nullptr);
  EXPECT_GT(trace.count(), 0);
  return trace.moments();
}

PredictRequest question(std::size_t rows, std::span<const double> x,
                        std::span<const double> outcomes) {
  PredictRequest request;
  request.rows = rows;
  request.features = x;
  request.outcomes = outcomes;
  return request;
}

EngineConfig small_config(const char* model, std::uint32_t features, std::uint64_t window) {
  EngineConfig c;
  c.model.name = model;
  c.model.features = features;
  c.model.prior_precision = 1;  // in the units of the data as they come
  c.model.intercept_precision = 0.1;
  c.model.noise_variance = std::strcmp(model, "linear") == 0 ? 1.0 : 0.0;
  c.window_size = window;
  c.window_slack = 1024;
  c.max_frame_rows = 512;
  c.max_query_rows = 16;
  c.seed = 7;
  return c;
}

}  // namespace windhover::test
