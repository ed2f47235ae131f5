#include "windhover/samplers/reference/warm_up.h"

#include <algorithm>
#include <cmath>

namespace windhover::reference {

System::System(const LogDensity& log_density, const Options& options, std::size_t dimension)
    : inverse_mass(dimension, 1.0),
      log_density_(log_density),
      rng_(options.seed, {.chain = options.chain, .purpose = Purpose::kInitialDraw}) {}

Point System::at(const std::vector<double>& position) {
  Point point;
  point.position = position;
  point.momentum.assign(position.size(), 0.0);
  point.gradient.assign(position.size(), 0.0);
  point.log_density = log_density_(point.position, point.gradient);
  ++gradients;
  return point;
}

void System::refresh_momentum(Point& point) {
  rng_.fill_normals(point.momentum);
  for (std::size_t j = 0; j < point.momentum.size(); ++j) {
    point.momentum[j] /= std::sqrt(inverse_mass[j]);
  }
}

void System::leapfrog(Point& point, double step_size) {
  const std::size_t d = point.position.size();
  for (std::size_t j = 0; j < d; ++j) {
    point.momentum[j] += 0.5 * step_size * point.gradient[j];
    point.position[j] += step_size * inverse_mass[j] * point.momentum[j];
  }
  point.log_density = log_density_(point.position, point.gradient);
  ++gradients;
  for (std::size_t j = 0; j < d; ++j) point.momentum[j] += 0.5 * step_size * point.gradient[j];
}

// The energy is infinite where the density is not a number: such a point is never accepted.
double System::energy(const Point& point) const {
  double kinetic = 0;
  for (std::size_t j = 0; j < point.momentum.size(); ++j) {
    kinetic += 0.5 * inverse_mass[j] * point.momentum[j] * point.momentum[j];
  }
  const double total = kinetic - point.log_density;
  return std::isnan(total) ? INFINITY : total;
}

double System::uniform() {
  double u = 0;
  rng_.fill_uniforms({&u, 1});
  return u;
}

void DualAveraging::restart(double step_size) {
  centre_ = std::log(10.0 * step_size);
  log_step_ = log_average_ = std::log(step_size);
  error_ = count_ = 0;
}

void DualAveraging::update(double acceptance, double target) {
  constexpr double kShrinkage = 0.05;
  constexpr double kOffset = 10;
  constexpr double kDecay = 0.75;
  count_ += 1;
  const double weight = 1.0 / (count_ + kOffset);
  error_ = (1.0 - weight) * error_ + weight * (target - acceptance);
  log_step_ = centre_ - std::sqrt(count_) / kShrinkage * error_;
  const double newest = std::pow(count_, -kDecay);
  log_average_ = newest * log_step_ + (1.0 - newest) * log_average_;
}

double DualAveraging::step_size() const { return std::exp(log_step_); }
double DualAveraging::averaged_step_size() const { return std::exp(log_average_); }

namespace {

// Shares of the warm-up for the step size alone, at its start and at its end.
std::size_t first_part(std::size_t warm_up) { return std::min<std::size_t>(75, warm_up / 5); }
std::size_t last_part(std::size_t warm_up) { return std::min<std::size_t>(50, warm_up / 5); }

}  // namespace

WarmUp::WarmUp(System& system, const Options& options, const Point& start)
    : system_(system),
      options_(options),
      window_end_(first_part(options.warm_up) + window_),
      mean_(start.position.size(), 0.0),
      squares_(start.position.size(), 0.0) {
  find_step_size(start);
}

// Doubles or halves until one leapfrog step is accepted about half of the time.
void WarmUp::find_step_size(const Point& from) {
  Point point = from;
  system_.refresh_momentum(point);
  const Point start = point;
  const double before = system_.energy(start);
  const auto gain = [&] {
    point = start;
    system_.leapfrog(point, step_size_);
    return before - system_.energy(point);
  };
  const bool grow = gain() > std::log(0.5);
  constexpr int kMostDoublings = 60;
  for (int i = 0; i < kMostDoublings && (gain() > std::log(0.5)) == grow; ++i) {
    step_size_ *= grow ? 2.0 : 0.5;
  }
  averaging_.restart(step_size_);
}

void WarmUp::update(std::size_t move, double acceptance, const std::vector<double>& position) {
  averaging_.update(acceptance, options_.target_acceptance);
  step_size_ = averaging_.step_size();
  const std::size_t mass_end = options_.warm_up - last_part(options_.warm_up);
  if (move >= first_part(options_.warm_up) && move < mass_end) {
    count_ += 1;
    for (std::size_t j = 0; j < position.size(); ++j) {
      const double deviation = position[j] - mean_[j];
      mean_[j] += deviation / count_;
      squares_[j] += deviation * (position[j] - mean_[j]);
    }
    if (move + 1 == window_end_ || move + 1 == mass_end) {
      // Variances are shrunk towards 0.001, as Stan does, so that few draws cannot give a variance
      // of 0.
      for (std::size_t j = 0; j < position.size(); ++j) {
        system_.inverse_mass[j] =
            (count_ / (count_ + 5.0)) * squares_[j] / std::max(count_ - 1.0, 1.0) +
            1e-3 * 5.0 / (count_ + 5.0);
      }
      std::fill(mean_.begin(), mean_.end(), 0.0);
      std::fill(squares_.begin(), squares_.end(), 0.0);
      count_ = 0;
      window_ *= 2;
      // The last window takes what the next one would leave too short.
      window_end_ = move + 1 + window_;
      if (window_end_ + 2 * window_ > mass_end) window_end_ = mass_end;
      find_step_size(system_.at(position));
    }
  }
  if (move + 1 == options_.warm_up) step_size_ = averaging_.averaged_step_size();
}

}  // namespace windhover::reference
