#include "windhover/samplers/thermostats/santa.h"

#include <algorithm>

#include "windhover/samplers/linear_algebra/lanczos.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

// One chain during one move.
struct Santa::Move {
  double* theta;
  double* u;
  double* alpha;
  double* v;
  double* g;
  double* last_g;
  double* gradient;
  double* normals;
  double temperature;  // 1 / beta
  bool exploring;      // noise is injected
  bool heating;        // alpha follows the kinetic energy
};

Result<bool> Santa::check(const SamplerConfig& c) noexcept {
  if (const auto r = check_friction(c); !r.ok()) return r;
  if (const auto r = check_adaptation(c); !r.ok()) return r;
  return check_annealed_langevin(c);
}

Santa::Santa(Arena& arena, const SamplerConfig& config, std::uint32_t dimension,
             Scheme scheme) noexcept
    : dimension_(dimension),
      scheme_(scheme),
      given_step_(config.step_size),
      friction_(config.friction),
      smoothing_(config.smoothing),
      floor_(config.preconditioner_floor),
      exploration_steps_(static_cast<double>(config.exploration_steps)),
      temperature_(config),
      square_(arena.allocate<double>(dimension).data()),
      work_(arena.allocate<double>(5 * std::size_t{dimension}).data()) {}

void Santa::start(Chain& chain, Rng& rng) const noexcept {
  double* u = chain.state;
  double* alpha = u + dimension_;
  double* v = alpha + dimension_;
  double* g = v + dimension_;
  rng.fill_normals({u, dimension_});
  const double heat = std::sqrt(step_size_ * temperature_.at(0));
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    u[j] *= heat;
    v[j] = square_[j];
    g[j] = 1.0 / std::sqrt(floor_ + std::sqrt(v[j]));
    // The friction that all noise needs: a thermostat that has to find it takes long.
    const double noise = 0.5 * step_size_ * n_ * n_ * square_[j] / temperature_.for_steps();
    alpha[j] = friction_ > 0 ? friction_ : std::sqrt(step_size_) * g[j] + noise * g[j] * g[j];
  }
  g[dimension_] = 0;
}

// Finds eta such that the squared frequency, eta times the largest eigenvalue of n g A g, stays
// below 0.001 (as in NoseHoover), and the minibatch's noise needs a friction of at most kStepBias.
Status Santa::refresh(const Estimates& e) noexcept {
  if (!e.diagonals_are_sound()) return Status::kNotPositiveDefinite;
  // Diagonals bound no eigenvalue, so no step can be computed, nor how long a chain remembers.
  if (e.diagonals_only() && !(given_step_ > 0)) return Status::kInvalidConfig;
  n_ = e.n;
  double* g2 = work_;
  for (std::size_t j = 0; j < dimension_; ++j) {
    square_[j] = e.noise_variance_of(j) / e.minibatch_size + e.curvature_of(j) / e.n;
    g2[j] = 1.0 / (floor_ + std::sqrt(square_[j]));
  }
  if (e.diagonals_only()) {
    step_size_ = given_step_;
    relaxation_ = 0;
    return Status::kOk;
  }
  double* room = work_ + dimension_;
  const double curvature = n_ * largest_scaled_eigenvalue(g2, e.curvature, dimension_, room);
  const double noise = n_ * n_ / e.minibatch_size *
                       largest_scaled_eigenvalue(g2, e.noise_covariance, dimension_, room);
  const double longest = 2.0 * kStepBias * temperature_.for_steps() / std::max(noise, 1e-300);
  step_size_ = given_step_ > 0 ? given_step_ : std::min(0.001 / curvature, longest);
  const double least = n_ * slowest_scaled_rate(g2, e.curvature, dimension_, room);
  const double alpha = 0.5 * step_size_ * noise / temperature_.for_steps() +
                       std::sqrt(step_size_ * *std::min_element(g2, g2 + dimension_));
  relaxation_ = alpha / (step_size_ * std::max(least, 1e-12 * curvature)) + 2.0 / alpha;
  return Status::kOk;
}

void Santa::adapt(Move& m) const noexcept {
  std::copy_n(m.g, dimension_, m.last_g);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    m.v[j] = smoothing_ * m.v[j] + (1.0 - smoothing_) * m.gradient[j] * m.gradient[j];
    m.g[j] = 1.0 / std::sqrt(floor_ + std::sqrt(m.v[j]));
  }
}

void Santa::euler(Move& m) const noexcept {
  const double eta = step_size_;
  const double noise = m.exploring ? 2.0 * eta * std::sqrt(eta) * m.temperature : 0.0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    if (m.heating) {
      m.alpha[j] += m.u[j] * m.u[j] - eta * m.temperature;
      m.alpha[j] = std::clamp(m.alpha[j], 0.0, 0.999);  // outside, u would grow or change sign
    }
    m.u[j] = (1.0 - m.alpha[j]) * m.u[j] - eta * n_ * m.g[j] * m.gradient[j] +
             std::sqrt(noise * m.last_g[j]) * m.normals[j];
    m.theta[j] += m.g[j] * m.u[j];
  }
}

// The gradient is at the half-way point, and g is the last one, which this gradient then changes.
void Santa::symmetric(Move& m, GradientSource& gradient, Rng& rng) const noexcept {
  const double eta = step_size_;
  for (std::uint32_t j = 0; j < dimension_; ++j) m.theta[j] += 0.5 * m.g[j] * m.u[j];
  gradient(m.theta, m.gradient);
  adapt(m);
  rng.fill_normals({m.normals, dimension_});
  const double noise = m.exploring ? 2.0 * eta * std::sqrt(eta) * m.temperature : 0.0;
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    double& alpha = m.alpha[j];
    double& u = m.u[j];
    if (m.heating) alpha += 0.5 * (u * u - eta * m.temperature);
    const double decay = std::exp(-0.5 * alpha);
    u = decay * u - eta * n_ * m.g[j] * m.gradient[j] +
        std::sqrt(noise * m.last_g[j]) * m.normals[j];
    u *= decay;
    if (m.heating) alpha += 0.5 * (u * u - eta * m.temperature);
    m.theta[j] += 0.5 * m.g[j] * u;
  }
}

Status Santa::step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept {
  double* u = chain.state;
  double* moves = u + 4 * std::size_t{dimension_};
  Move m{};
  m.theta = chain.theta;
  m.u = u;
  m.alpha = u + dimension_;
  m.v = m.alpha + dimension_;
  m.g = m.v + dimension_;
  m.gradient = chain.work;
  m.normals = m.gradient + dimension_;
  m.last_g = m.normals + dimension_;
  m.temperature = temperature_.at(*moves);
  m.exploring =
      scheme_ != Scheme::kRefine && (exploration_steps_ == 0 || *moves < exploration_steps_);
  m.heating = m.exploring || scheme_ == Scheme::kRefine;
  chain.is_draw = m.exploring;
  *moves += 1;
  if (scheme_ == Scheme::kSymmetric) {
    symmetric(m, gradient, rng);
  } else {
    gradient(m.theta, m.gradient);
    adapt(m);
    rng.fill_normals({m.normals, dimension_});
    euler(m);
  }
  return finite_or_diverged(chain.theta, dimension_);
}

}  // namespace windhover
