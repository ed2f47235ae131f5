#include "windhover/tools/client/column_units.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <string>
#include <vector>

#include "windhover/tests/tools/served.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/compare.h"

namespace windhover::column_units_test {
namespace {

// The column a of data_file() shifted and scaled, and two columns that are not.
std::string scaled_schema(bool sparse) {
  return file_with(sparse ? "units_sparse.toml" : "units_dense.toml",
                   std::string("target = \"y\"\nmissing = \"skip\"\nsparse = ") +
                       (sparse ? "true" : "false") +
                       "\n[[feature]]\nfield = \"a\"\nkind = \"number\"\nshift = 3\nscale = 2\n"
                       "[[feature]]\nfield = \"c\"\nkind = \"category\"\n"
                       "categories = [\"u\", \"v\"]\nother = \"zero\"\n");
}

class OfAServer : public ::testing::TestWithParam<bool> {};

TEST_P(OfAServer, ParametersAreThoseOfTheRowsAsTheyStandInTheFile) {
  const std::string path = scaled_schema(GetParam());
  const Schema schema = Schema::from_file(path);
  Served served(path_of("units.sock"), schema, "linear");
  (void)send_file(options_for(served, path));
  Client client;
  connect_or_throw(client, served.address());
  const ServedPosterior scaled = fetch_posterior(client, 60);
  Eigen::Matrix4d to_columns = Eigen::Matrix4d::Identity();
  to_columns(0, 0) = 0.5;
  to_columns(3, 0) = -1.5;
  const Eigen::Vector4d mean = to_columns * scaled.mean;
  const Eigen::Matrix4d covariance = to_columns * scaled.covariance * to_columns.transpose();

  const ColumnUnits units(schema, 1, true);
  std::vector<ParameterSummary> summaries;
  Provenance provenance;
  ASSERT_TRUE(ok(client.posterior(summaries, provenance)));
  const std::vector<ParameterSummary> before = summaries;
  ASSERT_TRUE(units.convert(client, summaries, provenance));
  for (int j = 0; j < 4; ++j) {
    const ParameterSummary& s = summaries[static_cast<std::size_t>(j)];
    const double sd = std::sqrt(covariance(j, j));
    EXPECT_NEAR(s.mean, mean[j], 1e-9) << j;
    EXPECT_NEAR(s.mode, (to_columns * scaled.mode)[j], 1e-9) << j;
    EXPECT_NEAR(s.sd, sd, 1e-4 * sd) << j;
    EXPECT_NEAR(s.q95 - s.mean, 1.6449 * s.sd, 1e-4 * s.sd) << j;
    EXPECT_EQ(s.q50, s.mean) << j;
  }
  EXPECT_EQ(units.scale(0), 2);
  EXPECT_EQ(units.scale(1), 1);
  EXPECT_TRUE(units.is_intercept(3));
  EXPECT_FALSE(units.is_intercept(2));
  EXPECT_EQ(summaries[1].sd_robust, before[1].sd_robust);
  EXPECT_EQ(summaries[0].sd_robust, before[0].sd_robust / 2);
  EXPECT_TRUE(std::isnan(summaries[3].sd_robust));
  EXPECT_EQ(summaries[0].prior_precision, 4 * before[0].prior_precision);
  EXPECT_NEAR(1 / summaries[3].prior_precision,
              1 / before[3].prior_precision + 2.25 / before[0].prior_precision, 1e-9);

  ++provenance.snapshot_id;  // as if the learner had published meanwhile
  EXPECT_FALSE(units.convert(client, summaries, provenance));
}

INSTANTIATE_TEST_SUITE_P(ColumnUnits, OfAServer, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "Sparse" : "Dense"; });

// A draw says the same of a row, in whichever units both are.
TEST(ColumnUnits, DrawsOfEveryClassGiveTheSameLinearPredictors) {
  const Schema schema = Schema::from_file(scaled_schema(false));
  const std::vector<double> sent = {0.7, -1, 2, 0.25, -0.3, 4, 0.5, 1.5};
  std::vector<double> theta = sent;
  ColumnUnits(schema, 2, true).convert(theta);
  const double a = 5.5;  // (a - 3) / 2 = 1.25 is sent
  for (std::size_t first : {0, 4}) {
    EXPECT_NEAR(theta[first] * a + theta[first + 3], sent[first] * 1.25 + sent[first + 3], 1e-12);
    EXPECT_EQ(theta[first + 1], sent[first + 1]);
  }
  std::vector<double> plain = {0.7, -1, 2};
  ColumnUnits(schema, 1, false).convert(plain);
  EXPECT_EQ(plain, (std::vector<double>{0.35, -1, 2}));
}

}  // namespace
}  // namespace windhover::column_units_test
