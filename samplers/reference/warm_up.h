// What HMC and NUTS share: a point in phase space, its leapfrog steps, and the adaptation of step
// size and mass.
#ifndef WINDHOVER_SAMPLERS_REFERENCE_WARM_UP_H_
#define WINDHOVER_SAMPLERS_REFERENCE_WARM_UP_H_

#include "windhover/platform/random.h"
#include "windhover/samplers/reference/hamiltonian_monte_carlo.h"

namespace windhover::reference {

struct Point {
  std::vector<double> position;
  std::vector<double> momentum;
  std::vector<double> gradient;  // of the log density
  double log_density = 0;
};

class System {
 public:
  System(const LogDensity& log_density, const Options& options, std::size_t dimension);

  Point at(const std::vector<double>& position);
  void refresh_momentum(Point& point);
  void leapfrog(Point& point, double step_size);
  double energy(const Point& point) const;
  double uniform();

  std::vector<double> inverse_mass;
  std::size_t gradients = 0;

 private:
  const LogDensity& log_density_;
  Rng rng_;
};

// Dual averaging of the log step size: Hoffman and Gelman 2014, section 3.2.
class DualAveraging {
 public:
  void restart(double step_size);
  void update(double acceptance, double target);
  double step_size() const;           // to explore with
  double averaged_step_size() const;  // to keep

 private:
  double centre_ = 0;
  double log_step_ = 0;
  double log_average_ = 0;
  double error_ = 0;
  double count_ = 0;
};

// The schedule: step size alone, then mass over doubling windows, then step size alone again.
class WarmUp {
 public:
  WarmUp(System& system, const Options& options, const Point& start);
  double step_size() const { return step_size_; }
  // Call it after move `move` (from 0), which ended at `position`.
  void update(std::size_t move, double acceptance, const std::vector<double>& position);

 private:
  void find_step_size(const Point& from);

  System& system_;
  const Options& options_;
  DualAveraging averaging_;
  double step_size_ = 1;
  std::size_t window_ = 25;
  std::size_t window_end_;
  double count_ = 0;
  std::vector<double> mean_;
  std::vector<double> squares_;
};

}  // namespace windhover::reference

#endif  // WINDHOVER_SAMPLERS_REFERENCE_WARM_UP_H_
