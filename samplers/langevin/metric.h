// A Riemannian metric on the parameters, given by the host: what `rsgld` moves by.
#ifndef WINDHOVER_SAMPLERS_LANGEVIN_METRIC_H_
#define WINDHOVER_SAMPLERS_LANGEVIN_METRIC_H_

namespace windhover {

// A metric is used by one thread at a time, does not allocate or throw, and outlives the sampler.
class Metric {
 public:
  // Writes two things at theta. `root`: a lower triangular R with R R^T = G^-1 (column-major, D x
  // D, all of it written). `divergence`: D numbers, the i-th sum_j d (G^-1)_ij / d theta_j. G must
  // be positive definite everywhere, which a Hessian need not be.
  virtual void evaluate(const double* theta, double* root, double* divergence) const noexcept = 0;

 protected:
  ~Metric() = default;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_LANGEVIN_METRIC_H_
