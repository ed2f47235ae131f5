// The parts of row blocks, each against what it says of itself.
#include "windhover/samplers/row_blocks/row_block_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "windhover/samplers/row_blocks/new_columns.h"
#include "windhover/samplers/row_blocks/row_condenser.h"
#include "windhover/samplers/row_blocks/row_translation.h"
#include "windhover/samplers/row_blocks/step_lengths.h"
#include "windhover/tests/samplers/row_block_fixture.h"

namespace windhover::row_block_parts_test {
namespace {

using row_block_langevin_test::model_of;
using row_block_langevin_test::SparseData;

constexpr std::uint32_t kChains = 4;
constexpr std::uint32_t kFeatures = 40;

// Parts with columns that have chains, but no rows; and a row of some of them.
class Parts {
 public:
  explicit Parts(ModelConfig model = model_of(kFeatures, 20, 2), std::uint64_t past = 0)
      : data_(model), parts_(memory_.arena(), model, kChains, 10, 1, past), columns_(parts_) {
    parts_.reset();
    for (std::uint32_t column = 0; column <= kFeatures; ++column) {
      parts_.positions.meet(column);
      columns_.draw_prior(column, {column, 0, Purpose::kInitialState});
    }
  }
  RowBlockParts& operator*() { return parts_; }
  RowBlockParts* operator->() { return &parts_; }
  NewColumns& columns() { return columns_; }
  Arena& arena() { return memory_.arena(); }

  // A row of the first columns.
  RowColumns row(std::uint32_t nonzeros, double target = 1) {
    std::vector<std::uint32_t> columns(nonzeros);
    std::iota(columns.begin(), columns.end(), 0U);
    data_.add(columns, std::vector<double>(nonzeros, 0.5), target);
    return parts_.columns_of(place());
  }
  const double* place() const { return data_.row(data_.size() - 1); }
  std::vector<float> theta() const {
    std::vector<float> all;
    for (std::uint32_t j = 0; j <= kFeatures; ++j) {
      all.insert(all.end(), parts_.positions.theta(j), parts_.positions.theta(j) + kChains);
    }
    return all;
  }
  double predictor(const RowColumns& row, std::uint32_t chain) const {
    double eta = row.offset;
    for (std::size_t k = 0; k < row.count; ++k) {
      eta += row.value(k) * parts_.positions.theta(row.column(k))[chain];
    }
    return eta;
  }

 private:
  Memory memory_;
  SparseData data_;
  RowBlockParts parts_;
  NewColumns columns_;
};

ModelConfig linear() {
  ModelConfig model = model_of(kFeatures, 20, 2);
  model.name = "linear";
  model.noise_variance = 0.25;
  return model;
}

TEST(ColumnsAhead, AreFetchedInEightPieces) {
  Parts parts;
  (void)parts.row(20);
  ColumnsAhead& ahead = parts->ahead;
  ahead.fetch(parts.place(), 0);
  EXPECT_EQ(ahead.waiting(), 0U);
  ahead.fetch_columns(parts.place());
  for (const std::size_t left : {17U, 14U, 11U, 8U, 5U, 2U, 0U, 0U}) {
    ahead.fetch_some();
    EXPECT_EQ(ahead.waiting(), left);
  }
  ahead.fetch_columns(parts.place());
  ahead.forget();
  EXPECT_EQ(ahead.waiting(), 0U);
}

TEST(GatheredRow, HasWhatThePartsHave) {
  Parts parts;
  const RowColumns row = parts.row(3);
  GatheredRow& gathered = parts->gathered;
  gathered.load(row);
  gathered.predict(row);
  const StepBlock& b = gathered.block();
  const std::vector<std::uint32_t> columns(b.column, b.column + 4);
  EXPECT_EQ(columns, (std::vector<std::uint32_t>{0, 1, 2, kFeatures}));
  for (std::size_t k = 0; k < row.count; ++k) EXPECT_EQ(b.precision[k], 2);
  for (std::uint32_t c = 0; c < kChains; ++c) {
    EXPECT_NEAR(b.eta[c], parts.predictor(row, c), 1e-6);
  }
  // 3 of 0.25 / 2, and of the intercept.
  EXPECT_NEAR(gathered.direction(row), 0.875, 1e-6);
  EXPECT_EQ(b.step[3], 0.5);
}

// Looked at twice from the same place a row has changed at first alone.
TEST(GatheredRow, LooksKeepTheNewest) {
  Parts parts;
  const RowColumns row = parts.row(3);
  parts->gathered.load(row);
  parts->gathered.predict(row);
  const GatheredRow::Looked first = parts->gathered.look(row, 2);
  EXPECT_GT(first.square, 0);
  EXPECT_GE(first.largest, first.curvature);
  EXPECT_EQ(parts->gathered.look(row, 2).square, 0);
  for (std::uint32_t c = 0; c < kChains; ++c) {
    const double p = 1 / (1 + std::exp(-parts.predictor(row, c)));
    EXPECT_NEAR(parts->kept.residuals(2)[c], p - 1, 1e-5);
  }
}

// Chains of columns without rows begin where the row has them; of a column with one they stay.
TEST(NewColumns, LeaveOthersWhereTheyAre) {
  Parts parts(linear());
  const RowColumns first = parts.row(1, 3);
  EXPECT_GT(parts.columns().draw_from(first), 0);
  parts->gathered.load(first);
  parts->columns.enter(parts->gathered.block(), first.count, 1);  // column 0, and the intercept's
  const std::vector<float> before = parts.theta();
  const RowColumns row = parts.row(2, 3);
  // The draw is of column 1 alone: 0.25 / (2 x 0.25).
  EXPECT_NEAR(parts.columns().draw_from(row), 0.5, 1e-12);
  const std::vector<float> after = parts.theta();
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i] != after[i], i / kChains == 1) << i;
  }
  parts->gathered.load(row);
  parts->columns.enter(parts->gathered.block(), row.count, 1);
  EXPECT_EQ(parts.columns().draw_from(row), 0);
}

// A row of numbers takes the centre of the chains along Newton's way to it, in apply() alone.
TEST(RowTranslation, GoesWhatWasWorkedOut) {
  Parts parts(linear());
  RowTranslation translation(*parts);
  const RowColumns row = parts.row(2, 7);
  parts->gathered.load(row);
  parts->gathered.predict(row);
  const std::vector<float> before = parts.theta();
  float* residuals = parts->kept.residuals(0);
  parts->kept.curvature(0) =
      parts->gathered.respond(row, 0, residuals, parts->gathered.block().bent).curvature;
  translation.work_out(row, 0, -1, 0);
  EXPECT_EQ(parts.theta(), before);
  translation.apply(row, residuals);
  // lambda x dispersion = 0.5 of each column: with own = 2 x 0.25 / 0.5 + 1 / 0.5 = 3 the centre is
  // three quarters nearer to y, and chains are as far apart as before.
  for (std::uint32_t c = 0; c < kChains; ++c) {
    double mean = 0;
    for (std::uint32_t i = 0; i < kChains; ++i) mean += double{residuals[i]} / kChains;
    EXPECT_NEAR(parts.predictor(row, c) - 7, double{residuals[c]} - 0.75 * mean, 1e-4);
  }
}

// A row without a weight that comes and goes: G has what it said, and then not.
TEST(RowTranslation, ForcesHaveTheRow) {
  Parts parts;
  RowTranslation translation(*parts);
  const RowColumns row = parts.row(2);
  parts->gathered.load(row);
  parts->gathered.predict(row);
  translation.work_out_transport(row);
  float* residuals = parts->kept.residuals(0);
  (void)parts->gathered.respond(row, 0, residuals, parts->gathered.block().bent);
  translation.apply(row, residuals);
  for (std::uint32_t c = 0; c < kChains; ++c) {
    EXPECT_NEAR(parts->positions.force(0)[c], 0.5F * residuals[c], 1e-7);
    EXPECT_EQ(parts->positions.force(kFeatures)[c], residuals[c]);
    EXPECT_EQ(parts->positions.force(5)[c], 0);
  }
}

// What fades of a column's past lets its chains go apart, to the precision that is left.
TEST(RowCondenser, ChainsGoApartAsThePastFades) {
  Parts parts(model_of(kFeatures, 20, 2), 1'000);
  RowCondenser condenser(*parts);
  CondensedPast& past = parts->prior.past();
  past.of(3) = {1, 6, 0};
  past.remember(100);
  for (int i = 0; i < 100; ++i) past.add_row();
  const auto spread = [&] { return double{variance_of({parts->positions.theta(3), kChains})}; };
  const double before = spread();
  condenser.age(3);
  const double left = 6 * std::exp(-1.0);
  EXPECT_NEAR(past.of(3).precision, left, 1e-5);
  EXPECT_NEAR(spread() / before, (2 + 6) / (2 + left), 1e-5);
  // G of what pulled them to 1 is so much less.
  EXPECT_NEAR(parts->positions.force(3)[0], 6 - left, 1e-5);
  const std::vector<float> aged = parts.theta();
  condenser.age(3);  // nothing has come since
  EXPECT_EQ(parts.theta(), aged);
}

// Each of a row's columns has its part of the step that scatter allows together, and each at most a
// fifth of the way.
TEST(StepLengths, AreBoundedByScatter) {
  for (const double scatter : {1.0, 1e-3}) {
    Parts parts;
    StepLengths lengths(parts.arena(), kFeatures + 1, *parts);
    lengths.reset();
    const RowColumns row = parts.row(20);
    const StepBlock& b = parts->gathered.block();
    parts->gathered.load(row);
    parts->columns.enter(b, row.count, 1);  // each column has one row
    parts->gathered.load(row);
    parts->recent.add(scatter);
    lengths.work_out(row.count);
    const double share = 2 * 0.9 * parts->recent.mean_curvature() / (21 * scatter);
    EXPECT_NEAR(b.length[7], std::min(share, 0.2), 1e-6);
  }
}

// A row that alone is four times as steep as a step may be is a quarter of it.
TEST(StepLengths, AreShortenedByASteepRow) {
  Parts parts;
  StepLengths lengths(parts.arena(), kFeatures + 1, *parts);
  lengths.reset();
  EXPECT_EQ(lengths.bound().scale(), 1);
  const RowColumns row = parts.row(4);
  parts->gathered.load(row);
  const StepBlock& b = parts->gathered.block();
  std::fill_n(b.step, row.count, 1.0F);
  std::fill_n(b.noise_sd, row.count, 1.0F);
  // 4 x 0.25 + 1 = 2, times 0.8.
  const float shorter = lengths.longest_alone(row, 0.8F);
  EXPECT_NEAR(shorter, CurvatureBound::kMost / 1.6, 1e-6);
  EXPECT_EQ(lengths.longest_alone(row, 0.1F), 1);
  lengths.shorten(row.count, shorter);
  EXPECT_EQ(b.step[4], shorter);
  EXPECT_FLOAT_EQ(b.noise_sd[4], 0.5F);
}

}  // namespace
}  // namespace windhover::row_block_parts_test
