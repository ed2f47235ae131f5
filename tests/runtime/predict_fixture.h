// Predictions of a posterior that is made by hand.
#ifndef WINDHOVER_TESTS_RUNTIME_PREDICT_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_PREDICT_FIXTURE_H_

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/runtime/prediction/predict.h"
#include "windhover/runtime/prediction/request_check.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test {

// A posterior N(mean, covariance) made by hand, with draws from it, and a predictor.
class PredictTest : public testing::Test {
 protected:
  void make(const char* model, std::uint32_t features, std::uint32_t draws = 64) {
    config_ = small_config(model, features, 100);
    config_.model.intercept = false;
    if (config_.model.name == "softmax") config_.model.classes = 3;
    config_.retained_draws = draws;
    block_ = std::make_unique<MappedBlock>(1 << 22);
    arena_ = std::make_unique<Arena>(block_->bytes());
    posterior_ =
        std::make_unique<Posterior>(*arena_, config_.model.dimension(), features, draws, 2);
    predictor_ = std::make_unique<Predictor>(*arena_, config_);
    factor_ = std::make_unique<Factor>(*arena_, config_.model.dimension());
    std::fill_n(posterior_->transform.shift.data(), features, 0.0);
    std::fill_n(posterior_->transform.inverse_scale.data(), features, 1.0);
    posterior_->n = 50;
  }
  void set(const VectorXd& mean, const MatrixXd& covariance) {
    const Index d = mean.size();
    std::copy_n(mean.data(), d, posterior_->mean);
    const MatrixXd a = covariance.inverse() / 50;
    MatrixXd inverse(d, d);
    ASSERT_EQ(factor_->compute(a.data()), Status::kOk);
    posterior_->inverse_factor.compute(*factor_, 1.0, inverse.data());
    const MatrixXd root = covariance.llt().matrixL();
    const Index k = config_.retained_draws;
    for (Index m = 0; m < k; ++m) {
      const VectorXd deviation = root * normals(1000 + static_cast<std::uint64_t>(m), d);
      for (Index j = 0; j < d; ++j) posterior_->deviations[j * k + m] = deviation[j];
    }
  }
  std::vector<PredictiveSummary> predict(const PredictRequest& request) {
    const Response response = find_model(config_.model.name)->response;
    EXPECT_EQ(RequestCheck(config_).check(request), Status::kOk);
    std::vector<PredictiveSummary> answers(request.rows);
    predictor_->predict(*posterior_, response, 1, request, answers);
    return answers;
  }
  // One feature with linear predictor N(m, s^2).
  PredictiveSummary logistic(double m, double s, double outcome) {
    make("logistic", 1);
    set(VectorXd::Constant(1, m), MatrixXd::Constant(1, 1, s * s));
    const std::array<double, 1> x = {1.0};
    const std::array<double, 1> y = {outcome};
    PredictRequest request;
    request.rows = 1;
    request.features = x;
    request.outcomes = y;
    return predict(request).front();
  }

  EngineConfig config_;
  std::unique_ptr<MappedBlock> block_;
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<Posterior> posterior_;
  std::unique_ptr<Predictor> predictor_;
  std::unique_ptr<Factor> factor_;
};

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_PREDICT_FIXTURE_H_
