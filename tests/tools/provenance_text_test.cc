#include <gtest/gtest.h>

#include <limits>

#include "windhover/tools/client/answers.h"

namespace windhover::provenance_text_test {

// Few rows have no number: none is said, nor the advice that goes with it.
TEST(ProvenanceText, DependentRowsHaveTheirNumberWhereItIsKnown) {
  Provenance p;
  p.reason = StatusReason::kDependentRows;
  p.score_autocorrelation = 1.5;
  EXPECT_EQ(reason_text(p),
            "rows depend on one another, score_autocorrelation 1.50: read sd_robust, sd is too "
            "small");
  p.robust_spread = true;
  EXPECT_EQ(reason_text(p),
            "rows depend on one another, score_autocorrelation 1.50: read sd_robust, as "
            "predictions do, sd is too small");
  p.score_autocorrelation = 1;  // so the residuals are alike
  EXPECT_EQ(reason_text(p),
            "what is left of neighbouring rows is alike, score_autocorrelation 1.00: a column that "
            "explains it is missing");
  p.score_autocorrelation = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(reason_text(p),
            "few rows, in an order or alike where they are neighbours: those to come may be "
            "unlike them");
}

}  // namespace windhover::provenance_text_test
