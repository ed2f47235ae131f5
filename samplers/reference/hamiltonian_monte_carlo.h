// Ground truth, offline: Hamiltonian Monte Carlo and the No-U-Turn sampler on a full log density.
// These are no samplers of the engine: they take their memory from the heap and see all the data.
#ifndef WINDHOVER_SAMPLERS_REFERENCE_HAMILTONIAN_MONTE_CARLO_H_
#define WINDHOVER_SAMPLERS_REFERENCE_HAMILTONIAN_MONTE_CARLO_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace windhover::reference {

// Returns the log density up to a constant, and writes its gradient to the second argument.
using LogDensity = std::function<double(const std::vector<double>&, std::vector<double>&)>;

struct Options {
  std::size_t warm_up = 1000;  // moves that adapt step size and mass, thrown away
  std::size_t draws = 1000;
  // Stops with the draw at which the gradients since the warm-up reach this number.
  std::size_t most_gradients = std::numeric_limits<std::size_t>::max();
  double target_acceptance = 0.8;
  double path_length = 1.6;  // HMC: in posterior standard deviations; about a quarter turn
  int max_depth = 10;        // NUTS: at most 2^max_depth leapfrog steps a move
  std::uint64_t seed = 1;
  std::uint16_t chain = 0;
};

struct Run {
  std::vector<std::vector<double>> draws;  // draws x dimension
  std::vector<double> inverse_mass;        // the variances that the warm-up found
  double step_size = 0;
  double acceptance = 0;  // average, after the warm-up
  std::size_t divergences = 0;
  std::size_t gradients = 0;          // evaluations, warm-up included
  std::size_t warm_up_gradients = 0;  // of these, in the warm-up
};

// HMC with leapfrog trajectories of random length in (0, 2 path_length] and a Metropolis step (Neal
// 2011); diagonal mass and step size are adapted as in no_u_turn().
Run hamiltonian_monte_carlo(const LogDensity& log_density, const std::vector<double>& start,
                            const Options& options);

// Multinomial NUTS (Hoffman and Gelman 2014; Betancourt 2017, appendix A) with dual averaging of
// the step size and a diagonal mass adapted over windows of doubling length.
Run no_u_turn(const LogDensity& log_density, const std::vector<double>& start,
              const Options& options);

}  // namespace windhover::reference

#endif  // WINDHOVER_SAMPLERS_REFERENCE_HAMILTONIAN_MONTE_CARLO_H_
