// Predictions that are averaged over memories: of a posterior made by hand.
#include <array>
#include <cmath>

#include "windhover/runtime/posterior/memory_average.h"
#include "windhover/tests/runtime/predict_fixture.h"

namespace windhover::test::predict_average_test {
namespace {

class PredictAverageTest : public PredictTest {};

// What memories differ by is covariance as P is, and their average the mean: the same answers as of
// a posterior with these.
TEST_F(PredictAverageTest, AnAverageOfMemoriesIsMeanAndCovariance) {
  for (const char* model : {"linear", "logistic", "poisson", "softmax", "heteroscedastic"}) {
    SCOPED_TRACE(model);
    PredictiveSummary answers[2];
    for (const bool averaged : {false, true}) {
      make(model, 3);
      const Index d = config_.model.dimension();
      const MatrixXd root = MatrixXd(normals(5, d * d).reshaped(d, d)) / 8;
      const MatrixXd p = root * root.transpose() + 0.01 * MatrixXd::Identity(d, d);
      const MatrixXd b = MatrixXd(normals(6, 2 * d).reshaped(d, 2)) / 4;
      const VectorXd mean = normals(7, d) / 3;
      const VectorXd shift = normals(8, d) / 5;
      set(averaged ? mean : VectorXd(mean + shift), averaged ? p : MatrixXd(p + b * b.transpose()));
      for (Index k = 0; k < 2 && averaged; ++k) {
        std::copy_n(b.col(k).data(), d, posterior_->average.add().direction);
        std::copy_n(shift.data(), d, posterior_->average.shift());
      }
      const std::array<double, 3> x = {1, -0.5, 2};
      const std::array<double, 1> y = {1};
      PredictRequest request;
      request.rows = 1;
      request.features = x;
      request.outcomes = y;
      answers[averaged] = predict(request)[0];
    }
    const PredictiveSummary& a = answers[0];
    const PredictiveSummary& b = answers[1];
    EXPECT_NEAR(a.log_score, b.log_score, 1e-9);
    EXPECT_NEAR(a.sd, b.sd, 1e-9 * a.sd);
    EXPECT_NEAR(a.linpred_mean, b.linpred_mean, 1e-9);
    EXPECT_NEAR(a.linpred_sd, b.linpred_sd, 1e-9);
    EXPECT_NEAR(a.interval_upper, b.interval_upper, 1e-9 * std::abs(a.interval_upper));
    for (std::size_t c = 0; c < a.classes; ++c) {
      EXPECT_NEAR(a.probs[c], b.probs[c], 1e-9);
      EXPECT_NEAR(a.probs_sd[c], b.probs_sd[c], 1e-9);
    }
  }
}

// Rows that are asked together are compared by draws of the same average: the first is the larger
// one as often as N(0, 1) is below the difference over its sd. 4,096 draws know that to 0.8 %.
TEST_F(PredictAverageTest, DrawsAreThoseOfTheAverage) {
  constexpr std::uint32_t kDraws = 4'096;
  make("linear", 2, kDraws);
  set(VectorXd::Zero(2), MatrixXd::Identity(2, 2) * 0.01);
  posterior_->dispersion = 1;
  const VectorXd b = (VectorXd(2) << 0.5, -0.5).finished();
  const VectorXd shift = (VectorXd(2) << 0.3, 0).finished();
  const MemoryAverage::Column column = posterior_->average.add();
  std::copy_n(b.data(), 2, column.direction);
  std::copy_n(shift.data(), 2, posterior_->average.shift());
  const VectorXd z = normals(77, kDraws);
  std::copy_n(z.data(), kDraws, column.normals);
  const std::array<double, 4> xs = {1, 0, 0, 1};
  PredictRequest request;
  request.rows = 2;
  request.features = xs;
  const auto answers = predict(request);
  // x1 - x2: mean 0.3, variance 0.02 + 1.
  const double expected = normal_cdf(0.3 / std::sqrt(1.02));
  EXPECT_NEAR(answers[0].prob_best, expected, 4 * 0.008);
  EXPECT_NEAR(answers[0].prob_best + answers[1].prob_best, 1, 1e-12);
}

}  // namespace
}  // namespace windhover::test::predict_average_test
