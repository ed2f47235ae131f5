// Feed-forward networks of one or two hidden layers, dense or sparse rows, with the head of a
// linear, logistic or softmax model; and the discriminative restricted Boltzmann machine, which is
// another such function in front of a softmax.
//
// theta holds, layer after layer and unit after unit, the weights of what comes in and then the
// bias. The loss is not convex: see Model::log_concave().
#ifndef WINDHOVER_SAMPLERS_MODELS_NETWORK_H_
#define WINDHOVER_SAMPLERS_MODELS_NETWORK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "windhover/platform/arena.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

enum class NetworkKind : std::uint8_t {
  kFeedForward,
  // The discriminative restricted Boltzmann machine: p(y | x) is proportional to exp(b_y) prod_j (1
  // + exp(c_j + U_jy + w_j^T x)). theta holds w_j, c_j and U_jy of classes 1 to C - 1 for each
  // hidden unit j, then b_y of these classes. U_j0 and b_0 are 0, which c_j and the other b_y make
  // up for.
  kBoltzmann,
};

// Widths, and the passes forward and backward: everything that needs no memory of its own.
struct NetworkShape {
  static constexpr std::size_t kMaxLayers = 3;  // two hidden ones and the head

  // The name of the model says which kind it is.
  static constexpr std::string_view kBoltzmannName = "drbm";

  NetworkShape(const ModelConfig& config, Response response) noexcept;

  std::uint32_t dimension() const noexcept;
  // How many hidden units and outputs there are.
  std::size_t units() const noexcept;
  // How many numbers forward() leaves: the outputs of all units, the head's included. A Boltzmann
  // machine adds for each hidden unit its probability to be on, for every class, padded to whole
  // vectors.
  std::size_t values() const noexcept;
  std::size_t outputs() const noexcept { return width[layers]; }
  // Weights have precision prior_precision x fan-in, biases intercept_precision.
  void prior_precision(const ModelConfig& config, double* precision) const noexcept;
  // Draws normal weights of variance 1 / fan-in, and sets biases to 0.
  void initial(std::uint64_t seed, double* theta) const noexcept;

  // `values` takes values() numbers, layer after layer. Returns those of the head, the linear
  // predictors. Complexity O(dimension).
  const double* forward(const double* theta, const double* x, double* values) const noexcept;
  // gradient += weight x J^T head, J the derivative of the linear predictors that forward() left in
  // `values`. errors[0] to errors[units() - 1] become weight x the derivatives of these predictors
  // in the units' inputs, layer after layer, x head. `errors` takes values() numbers.
  void backward(const double* theta, const double* x, const double* values, const double* head,
                double weight, double* errors, double* gradient) const noexcept;

  // Unit k of layer 1, 2, ...: its weight j is parameter first + j x stride. It multiplies number
  // input + j x input_stride of what forward() left, or feature j for kFeatures.
  struct Unit {
    std::size_t first;
    std::size_t stride;
    std::size_t bias;
    std::size_t fan_in;
    std::size_t input;
    std::size_t input_stride;
  };
  static constexpr std::size_t kFeatures = std::numeric_limits<std::size_t>::max();
  Unit unit(std::size_t layer, std::size_t k) const noexcept;

  double activate(double in) const noexcept;
  double slope(double out) const noexcept;  // of the activation, from the unit's output

  NetworkKind kind;
  std::size_t layers;
  std::array<std::uint32_t, kMaxLayers + 1> width{};  // width[0]: features
  Activation activation;

 private:
  // The number of classes, class 0 included, rounded up to whole vectors.
  std::size_t states() const noexcept { return (width[2] + 8) / 8 * 8; }
  const double* forward_boltzmann(const double* theta, const double* x,
                                  double* values) const noexcept;
};

// The passes of a feed-forward network over several rows at once, as products of matrices, so that
// each weight is read once for all of them. Memory: about kRows x (2 features + 4 units) doubles.
class NetworkBatch {
 public:
  static constexpr std::size_t kRows = 64;

  NetworkBatch(Arena& arena, const NetworkShape& shape) noexcept;

  // Where the features of row i go.
  double* features(std::size_t i) noexcept { return in_ + i * shape_.width[0]; }
  // Runs rows 0 to rows - 1 forward; predictor(c, i) is then the linear predictor c of row i.
  void forward(const double* theta, std::size_t rows) noexcept;
  double predictor(std::size_t c, std::size_t i) const noexcept { return head_[c * kStride + i]; }
  // Replaces that predictor by the derivative of -log p in it, for backward().
  void set_error(std::size_t c, std::size_t i, double error) noexcept {
    errors_[c * kStride + i] = error;
  }
  // gradient += the sum over the rows of J^T error.
  void backward(const double* theta, std::size_t rows, double* gradient) noexcept;

 private:
  // The numbers of a unit are a row of this stride. It is no power of two, or all would fall into
  // few sets of the cache.
  static constexpr std::size_t kStride = kRows + 8;

  NetworkShape shape_;
  double* in_ = nullptr;          // row after row: features, and each hidden layer's outputs
  double* transposed_ = nullptr;  // the same, unit after unit
  double* head_ = nullptr;        // likewise the linear predictors
  double* errors_ = nullptr;      // derivatives in what comes into the units of a layer
  double* errors_below_ = nullptr;
};

// How many rows are added at once to a D x D matrix: as many as 2^20 numbers hold, but 4 to 64.
inline std::size_t network_bundle(std::size_t width) noexcept {
  return std::clamp<std::size_t>((std::size_t{1} << 20) / width, 4, 64);
}

// Sums J^T H J for a head of several classes, H = diag(p) - p p^T, a bundle of rows at once. Let e
// be the derivative of the linear predictors in a unit's input. The matrix column of the unit's
// weight for an input v is then v J^T H e: for each row and unit a pass backward, and for each unit
// a product of matrices. That takes about D (classes + units + D / 2) multiplications a row; outer
// products take D^2 / 2 for each class. Memory: a bundle x (features + values() + classes x units)
// doubles.
class NetworkCurvature {
 public:
  // `rows` is scratch, a bundle x width.
  NetworkCurvature(Arena& arena, const NetworkShape& shape, double* rows) noexcept;

  // Whether that is less work than outer products, whose loops are vectorised better.
  static bool pays(const NetworkShape& shape) noexcept;

  // Keeps row i of a bundle: its features, what forward() left, and the probabilities of all
  // classes.
  void keep(std::size_t i, const double* x, const double* values, const double* probability,
            double weight) noexcept;
  // matrix += the sum of weight x J^T H J over the rows 0 to count - 1 that were kept at theta,
  // lower triangle; entries above it are written too.
  void add(const double* theta, std::size_t count, double* matrix) noexcept;

 private:
  // errors_of(i, c): the derivatives of linear predictor c in the units' inputs.
  double* errors_of(std::size_t i, std::size_t c) noexcept {
    return errors_ + (i * shape_.outputs() + c) * shape_.units();
  }
  void find_errors(const double* theta, std::size_t count) noexcept;
  // Fills rows_ with weight x J^T H e of a unit, a row each.
  void spread_unit(const double* theta, std::size_t count, std::size_t unit) noexcept;
  // Fills head_ with H e of a unit for row i.
  void find_head(std::size_t i, std::size_t unit) noexcept;

  NetworkShape shape_;
  std::size_t dimension_;
  std::size_t width_;
  double* rows_;
  double* x_ = nullptr;            // bundle x features
  double* values_ = nullptr;       // bundle x values()
  double* probability_ = nullptr;  // bundle x classes
  double* weights_ = nullptr;      // bundle
  double* errors_ = nullptr;       // bundle x outputs x units
  double* head_ = nullptr;         // outputs
  double* scratch_ = nullptr;      // values()
};

// Sums weight x row row^T, a bundle of rows at once. Memory: twice a bundle x width doubles.
class OuterBundle {
 public:
  OuterBundle(Arena& arena, std::size_t dimension) noexcept;
  void reset() noexcept;

  std::size_t capacity() const noexcept { return capacity_; }
  // Room for the next row.
  double* next() noexcept { return rows_ + count_ * width_; }
  // Adds the row written there to the bundle; a full bundle goes into the matrix.
  void add(double weight, double* matrix) noexcept {
    weights_[count_++] = weight;
    if (count_ == capacity_) flush(matrix);
  }
  // Call it before the matrix is read.
  void flush(double* matrix) noexcept;
  // Capacity x width numbers that only flush() writes.
  double* scratch() noexcept { return scaled_; }

 private:
  std::size_t dimension_;
  std::size_t width_;
  std::size_t capacity_;
  std::size_t count_ = 0;
  double* rows_;
  double* scaled_;
  double* weights_;
};

// Curvature: Gauss-Newton, J^T H J a row, J the derivative of the linear predictors and H the
// head's Hessian in them. Memory: that of OuterBundle and NetworkCurvature.
class NetworkModel final : public Model {
 public:
  NetworkModel(Arena& arena, const ModelConfig& config, std::string_view name,
               Response response) noexcept;
  void reset() noexcept;

  std::string_view name() const noexcept override { return name_; }
  Response response() const noexcept override { return response_; }
  bool quadratic() const noexcept override { return false; }
  bool log_concave() const noexcept override { return false; }
  Curvature curvature() const noexcept override { return Curvature::kGaussNewton; }
  double mean(double) const noexcept override { return std::numeric_limits<double>::quiet_NaN(); }
  Status check_target(double y) const noexcept override;
  FeatureTransform& transform() noexcept override { return transform_; }
  void initial(std::uint64_t seed, double* theta) const noexcept override {
    shape_.initial(seed, theta);
  }

  void gradient_sum(const RowBatch& batch, const double* theta, double* gradient) noexcept override;
  double loss_sum(const RowBatch& batch, const double* theta) noexcept override;
  void add_noise(const RowBatch& batch, const double* theta, NoiseSums& sums) noexcept override;
  void add_noise_variances(const RowBatch& batch, const double* theta,
                           NoiseVarianceSums& sums) noexcept override;
  void add_curvature(const RowBatch& batch, const double* anchor, const double* covariance,
                     double weight, CurvatureSums& sums) noexcept override;

 private:
  // What visit() leaves of the last row.
  struct Visited {
    double loss = 0;    // -log p
    double square = 0;  // squared residual
    double* x;
    double* values;       // as forward() leaves them
    double* errors;       // likewise: derivatives in the units' inputs
    double* head;         // outputs: derivatives of the loss in the linear predictors
    double* probability;  // classes
  };

  // Reads row i and runs it forward.
  void visit(const RowBatch& batch, std::size_t i, const double* theta) noexcept;
  void backward(const double* theta, const double* head, double weight, double* gradient) noexcept {
    shape_.backward(theta, row_.x, row_.values, head, weight, row_.errors, gradient);
  }
  // Sets the head from a target and the linear predictors, as visit() leaves it.
  void set_head(double y, const double* eta) noexcept;
  // matrix += weight x (J^T head)(J^T head)^T, once the bundle is flushed.
  void add_outer(const double* theta, const double* head, double weight, double* matrix) noexcept;
  // Adds weight x J^T H J of the row that was visited, by outer products.
  void add_classes(const double* theta, double weight, double* matrix) noexcept;

  std::string_view name_;
  Response response_;
  RowLayout layout_;
  NetworkShape shape_;
  std::size_t dimension_;
  FeatureTransform transform_;
  OuterBundle bundle_;
  NetworkBatch batch_;
  bool by_unit_;  // how curvatures of several classes are summed
  NetworkCurvature curvature_;
  Visited row_;
  double* direction_;  // outputs
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_MODELS_NETWORK_H_
