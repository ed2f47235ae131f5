#include "windhover/samplers/constant_rate/preconditioner.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <vector>

#include "windhover/platform/memory.h"
#include "windhover/samplers/registry.h"

namespace windhover::preconditioner_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The panels of the products, whole and cut, against products of whole matrices.
TEST(FullPreconditioner, MovesByHTimesGradientPlusNoiseAtAnyDimension) {
  for (const std::uint32_t d : {1U, 3U, 31U, 32U, 33U, 64U, 100U}) {
    ModelConfig config;
    config.features = d;
    config.intercept = false;
    config.noise_variance = 1;
    const ModelEntry& entry = *find_model("linear");
    Arena measuring = Arena::measuring();
    (void)entry.make(measuring, config);
    FullPreconditioner measured(measuring, d);
    const MappedBlock block(measuring.used());
    Arena arena(block.bytes());
    Model* model = entry.make(arena, config);
    entry.reset(*model);
    FullPreconditioner preconditioner(arena, d);

    const Index n = d;
    MatrixXd root(n, n);
    fill_normals(3, {1}, {root.data(), static_cast<std::size_t>(n * n)});
    const MatrixXd matrix = root * root.transpose() + n * MatrixXd::Identity(n, n);
    ASSERT_TRUE(ok(preconditioner.set_inverse(matrix.data(), 2.0)));
    ASSERT_TRUE(ok(preconditioner.set_noise(matrix.data(), 0.5)));

    std::vector<double> row(RowLayout(config).stride());
    fill_normals(3, {2}, {row.data(), d + 1});
    const std::array<std::uint32_t, 1> slots{0};
    const std::vector<double> prior(d, 1.0);
    GradientSource gradient(model, d, prior.data());
    gradient.set_scale(10, 1);
    gradient.set_minibatch({row.data(), slots.data(), 1});

    VectorXd theta(n), g(n), z(n);
    fill_normals(3, {3}, {theta.data(), d});
    gradient(theta.data(), g.data());
    Rng rng(5);
    Rng same(5);
    same.fill_normals({z.data(), d});
    const MatrixXd lower = matrix.llt().matrixL();
    const VectorXd expected = theta - 2.0 * matrix.inverse() * (g + 0.5 * lower * z);

    const VectorXd start = theta;
    VectorXd work(4 * n);
    Chain chain{.theta = theta.data(), .work = work.data()};
    ASSERT_TRUE(ok(preconditioner.step(chain, gradient, rng)));
    EXPECT_LT((theta - expected).norm(), 1e-12 * (1 + expected.norm())) << "D = " << d;

    // H and noise of one matrix: H e is scale x noise_scale x L^-T z.
    ASSERT_TRUE(ok(preconditioner.set_inverse_and_noise(matrix.data(), 2.0, 0.5)));
    theta = start;
    Rng again(5);
    ASSERT_TRUE(ok(preconditioner.step(chain, gradient, again)));
    EXPECT_LT((theta - expected).norm(), 1e-12 * (1 + expected.norm())) << "D = " << d;
    MatrixXd h(n, n), injected(n, n);
    preconditioner.law(h.data(), injected.data());
    EXPECT_LT((h * matrix - 2.0 * MatrixXd::Identity(n, n)).norm(), 1e-10) << "D = " << d;
    EXPECT_LT((injected - 0.25 * matrix).norm(), 1e-12 * matrix.norm()) << "D = " << d;
  }
}

}  // namespace
}  // namespace windhover::preconditioner_test
