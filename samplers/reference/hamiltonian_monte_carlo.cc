#include "windhover/samplers/reference/hamiltonian_monte_carlo.h"

#include <algorithm>
#include <cmath>

#include "windhover/samplers/reference/warm_up.h"

namespace windhover::reference {

namespace {

constexpr double kDivergence = 1000;  // energy error of a trajectory that left for good

// How one move went, besides where it ended.
struct Move {
  double acceptance = 0;
  bool diverged = false;
};

template <class Mover>
Run run(const LogDensity& log_density, const std::vector<double>& start, const Options& options,
        Mover&& mover) {
  System system(log_density, options, start.size());
  Point point = system.at(start);
  WarmUp warm_up(system, options, point);
  Run run;
  for (std::size_t move = 0; move < options.warm_up; ++move) {
    const Move made = mover(system, point, warm_up.step_size());
    warm_up.update(move, made.acceptance, point.position);
  }
  run.warm_up_gradients = system.gradients;
  while (run.draws.size() < options.draws &&
         system.gradients - run.warm_up_gradients < options.most_gradients) {
    const Move made = mover(system, point, warm_up.step_size());
    run.draws.push_back(point.position);
    run.acceptance += made.acceptance;
    run.divergences += made.diverged ? 1 : 0;
  }
  run.acceptance /= static_cast<double>(std::max<std::size_t>(run.draws.size(), 1));
  run.inverse_mass = system.inverse_mass;
  run.step_size = warm_up.step_size();
  run.gradients = system.gradients;
  return run;
}

double log_sum(double a, double b) {
  const double largest = std::max(a, b);
  return largest == -INFINITY ? largest
                              : largest + std::log(std::exp(a - largest) + std::exp(b - largest));
}

// A stretch of a trajectory: its ends, one point drawn from it by weight, the sum of its momenta.
struct Tree {
  Point left;
  Point right;
  Point chosen;
  std::vector<double> momentum_sum;
  double log_weight = -INFINITY;
  bool stopped = false;  // it turned, or diverged
};

class Trajectory {
 public:
  Trajectory(System& system, double step_size, double energy)
      : system_(system), step_size_(step_size), energy_(energy) {}

  // Extends by 2^depth points from `from`, which is not one of them; `direction` is 1 or -1.
  Tree extend(const Point& from, int depth, int direction) {
    if (depth == 0) return leaf(from, direction);
    Tree first = extend(from, depth - 1, direction);
    if (first.stopped) return first;
    const Tree second = extend(direction > 0 ? first.right : first.left, depth - 1, direction);
    join(first, second, direction,
         second.log_weight - log_sum(first.log_weight, second.log_weight));
    return first;
  }

  // Adds `more` to `tree` in `direction`; takes its chosen point with the log probability given.
  void join(Tree& tree, const Tree& more, int direction, double log_probability) {
    if (more.stopped) {
      tree.stopped = true;
      return;
    }
    if (std::log(system_.uniform()) < log_probability) tree.chosen = more.chosen;
    const std::vector<double> sum = tree.momentum_sum;
    // Where they meet it must not turn either: a U-turn can hide between two halves.
    const Point& inner_old = direction > 0 ? tree.right : tree.left;
    const Point& inner_new = direction > 0 ? more.left : more.right;
    const Point& outer_old = direction > 0 ? tree.left : tree.right;
    const Point& outer_new = direction > 0 ? more.right : more.left;
    bool turned = turns(outer_old, inner_new, sum, inner_new.momentum) ||
                  turns(inner_old, outer_new, more.momentum_sum, inner_old.momentum);
    for (std::size_t j = 0; j < sum.size(); ++j) tree.momentum_sum[j] += more.momentum_sum[j];
    (direction > 0 ? tree.right : tree.left) = outer_new;
    tree.log_weight = log_sum(tree.log_weight, more.log_weight);
    turned = turned || turns(tree.left, tree.right, tree.momentum_sum, {});
    tree.stopped = turned;
  }

  double acceptance() const { return acceptance_ / std::max(points_, 1.0); }
  bool diverged() const { return diverged_; }

 private:
  Tree leaf(const Point& from, int direction) {
    Tree tree;
    tree.left = from;
    system_.leapfrog(tree.left, direction * step_size_);
    const double error = system_.energy(tree.left) - energy_;
    tree.right = tree.chosen = tree.left;
    tree.momentum_sum = tree.left.momentum;
    tree.log_weight = -error;
    tree.stopped = !(error < kDivergence);
    diverged_ = diverged_ || tree.stopped;
    acceptance_ += std::min(1.0, std::exp(-error));
    points_ += 1;
    return tree;
  }

  // Whether the sum of momenta, plus one more, points against either end's velocity.
  bool turns(const Point& a, const Point& b, const std::vector<double>& sum,
             const std::vector<double>& more) const {
    double along_a = 0;
    double along_b = 0;
    for (std::size_t j = 0; j < sum.size(); ++j) {
      const double rho = sum[j] + (more.empty() ? 0.0 : more[j]);
      along_a += rho * system_.inverse_mass[j] * a.momentum[j];
      along_b += rho * system_.inverse_mass[j] * b.momentum[j];
    }
    return !(along_a > 0 && along_b > 0);
  }

  System& system_;
  double step_size_;
  double energy_;
  double acceptance_ = 0;
  double points_ = 0;
  bool diverged_ = false;
};

}  // namespace

Run hamiltonian_monte_carlo(const LogDensity& log_density, const std::vector<double>& start,
                            const Options& options) {
  return run(log_density, start, options, [&](System& system, Point& point, double step_size) {
    system.refresh_momentum(point);
    const double before = system.energy(point);
    Point end = point;
    // The length is random, because a fixed one would be a period of some direction.
    constexpr double kMostSteps = 1000;
    const double longest = std::min(2.0 * options.path_length / step_size, kMostSteps);
    const auto steps = static_cast<int>(std::ceil(system.uniform() * longest));
    for (int i = 0; i < steps; ++i) system.leapfrog(end, step_size);
    const double error = system.energy(end) - before;
    const Move move{std::min(1.0, std::exp(-error)), !(error < kDivergence)};
    if (system.uniform() < move.acceptance) point = end;
    return move;
  });
}

Run no_u_turn(const LogDensity& log_density, const std::vector<double>& start,
              const Options& options) {
  return run(log_density, start, options, [&](System& system, Point& point, double step_size) {
    system.refresh_momentum(point);
    Trajectory trajectory(system, step_size, system.energy(point));
    Tree tree{point, point, point, point.momentum, 0.0, false};
    for (int depth = 0; depth < options.max_depth && !tree.stopped; ++depth) {
      const int direction = system.uniform() < 0.5 ? -1 : 1;
      const Tree more = trajectory.extend(direction > 0 ? tree.right : tree.left, depth, direction);
      // Biased progressive sampling: the new half is preferred.
      trajectory.join(tree, more, direction, more.log_weight - tree.log_weight);
    }
    point = tree.chosen;
    return Move{trajectory.acceptance(), trajectory.diverged()};
  });
}

}  // namespace windhover::reference
