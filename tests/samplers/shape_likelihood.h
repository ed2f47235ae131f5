// What every likelihood with a shape is asked.
#ifndef WINDHOVER_TESTS_SAMPLERS_SHAPE_LIKELIHOOD_H_
#define WINDHOVER_TESTS_SAMPLERS_SHAPE_LIKELIHOOD_H_

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace windhover {

// `likelihood(shape)` makes one.
template <class Make>
void expect_nothing_overflows(Make&& likelihood) {
  for (const double shape : {1e-9, 1.0, 1e4}) {
    for (const double eta : {-1e4, -50.0, 0.0, 50.0, 1e4}) {
      for (const double y : {0.0, 1.0, 0x1.0p53}) {
        const auto of = likelihood(shape);
        std::array<double, 6> all;
        of.derivatives(&eta, &y, 1, &all[0]);
        of.curvatures(&eta, &y, 1, &all[1], &all[2]);
        of.shape_derivatives(&eta, &y, 1, &all[3], &all[4]);
        of.curvatures_by_shape(&eta, &y, 1, &all[5]);
        for (const double value : all) {
          EXPECT_TRUE(std::isfinite(value)) << shape << " " << eta << " " << y;
        }
        EXPECT_GE(all[1], 0);
        EXPECT_TRUE(std::isfinite(of.loss(&eta, &y, 1)));
      }
    }
  }
}

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_SHAPE_LIKELIHOOD_H_
