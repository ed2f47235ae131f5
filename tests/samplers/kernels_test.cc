#include "windhover/samplers/kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "windhover/platform/cpu.h"
#include "windhover/platform/random.h"

namespace windhover::kernels_test {
namespace {

constexpr std::size_t kRows = 37;  // fewer than most counts, so slots repeat
constexpr std::size_t kCounts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 64, 127, 128, 129, 300};
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

std::vector<double> numbers(std::uint64_t seed, std::size_t count) {
  std::vector<double> values(count);
  fill_normals(seed, {}, values);
  return values;
}

class KernelTable : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (GetParam() > instruction_set()) GTEST_SKIP() << "this processor does not have it";
  }
  const Kernels& table() const {
    switch (GetParam()) {
      case InstructionSet::kAvx512:
        return kKernelsAvx512;
      case InstructionSet::kAvx2:
        return kKernelsAvx2;
      default:
        return kKernelsBaseline;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(InstructionSets, KernelTable,
                         testing::Values(InstructionSet::kBaseline, InstructionSet::kAvx2,
                                         InstructionSet::kAvx512),
                         [](const auto& set) { return std::string(to_string(set.param)); });

TEST_P(KernelTable, gather_dot_agrees_with_plain_loop) {
  for (std::size_t stride = 4; stride <= 104; stride += 4) {
    // One double off: nothing may assume more alignment than a double's.
    const std::vector<double> storage = numbers(stride, kRows * stride + 1);
    const double* base = storage.data() + 1;
    const std::vector<double> coefficients = numbers(1000 + stride, stride);
    const std::size_t target = stride / 2;
    for (const std::size_t count : kCounts) {
      std::vector<std::uint32_t> slots(count);
      fill_indices(count, {}, kRows, slots);
      std::vector<double> predictors(count + 1, 7.0);
      std::vector<double> targets(count + 1, 7.0);
      table().gather_dot(base, stride, slots.data(), count, 0, coefficients.data(), 0.25, target,
                         predictors.data(), targets.data());
      for (std::size_t i = 0; i < count; ++i) {
        const double* row = base + slots[i] * stride;
        long double sum = 0.25L;
        long double size = 0.25L;
        for (std::size_t j = 0; j < stride; ++j) {
          const long double term = static_cast<long double>(row[j]) * coefficients[j];
          sum += term;
          size += std::abs(term);
        }
        // A sum of m terms errs by at most m eps times the sum of sizes.
        const double bound = static_cast<double>(stride + 2) * kEpsilon * static_cast<double>(size);
        ASSERT_NEAR(predictors[i], static_cast<double>(sum), bound) << stride << ' ' << count;
        ASSERT_EQ(targets[i], row[target]);
      }
      ASSERT_EQ(predictors[count], 7.0) << "wrote past the end";
      ASSERT_EQ(targets[count], 7.0) << "wrote past the end";
    }
  }
}

TEST_P(KernelTable, gather_axpy_agrees_with_plain_loop) {
  for (std::size_t stride = 4; stride <= 104; stride += 4) {
    const std::vector<double> storage = numbers(stride, kRows * stride + 1);
    const double* base = storage.data() + 1;
    for (const std::size_t count : kCounts) {
      std::vector<std::uint32_t> slots(count);
      fill_indices(count, {}, kRows, slots);
      const std::vector<double> weights = numbers(2000 + count, count);
      const std::vector<double> start = numbers(3000, stride);
      std::vector<double> sum = start;
      sum.push_back(7.0);
      table().gather_axpy(base, stride, slots.data(), count, weights.data(), sum.data());
      for (std::size_t j = 0; j < stride; ++j) {
        long double expected = start[j];
        long double size = std::abs(expected);
        for (std::size_t i = 0; i < count; ++i) {
          const long double term =
              static_cast<long double>(base[slots[i] * stride + j]) * weights[i];
          expected += term;
          size += std::abs(term);
        }
        const double bound = static_cast<double>(count + 2) * kEpsilon * static_cast<double>(size);
        ASSERT_NEAR(sum[j], static_cast<double>(expected), bound) << stride << ' ' << count;
      }
      ASSERT_EQ(sum[stride], 7.0) << "wrote past the end";
    }
  }
}

TEST_P(KernelTable, gather_squares_agrees_with_plain_loop) {
  for (std::size_t stride = 4; stride <= 104; stride += 20) {
    const std::vector<double> storage = numbers(stride, kRows * stride + 1);
    const double* base = storage.data() + 1;
    const std::vector<double> shift = numbers(5000 + stride, stride);
    for (const std::size_t count : kCounts) {
      std::vector<std::uint32_t> slots(count);
      fill_indices(count, {}, kRows, slots);
      const std::vector<double> weights = numbers(2000 + count, count);
      const std::vector<double> start = numbers(3000, stride);
      std::vector<double> sum = start;
      sum.push_back(7.0);
      table().gather_squares(base, stride, slots.data(), count, weights.data(), shift.data(),
                             sum.data());
      for (std::size_t j = 0; j < stride; ++j) {
        long double expected = start[j];
        long double size = std::abs(expected);
        for (std::size_t i = 0; i < count; ++i) {
          const long double x = static_cast<long double>(base[slots[i] * stride + j]) - shift[j];
          expected += weights[i] * x * x;
          size += std::abs(weights[i]) * (x * x + 2 * std::abs(x));
        }
        const double bound = static_cast<double>(count + 4) * kEpsilon * static_cast<double>(size);
        ASSERT_NEAR(sum[j], static_cast<double>(expected), bound) << stride << ' ' << count;
      }
      ASSERT_EQ(sum[stride], 7.0) << "wrote past the end";
    }
  }
}

TEST_P(KernelTable, weighted_outer_agrees_with_plain_loop_and_leaves_zero_padding) {
  for (std::size_t width = 4; width <= 104; width += 20) {
    for (const std::size_t count : std::vector<std::size_t>{0, 1, 2, 5, 128}) {
      std::vector<double> rows = numbers(width, count * width);
      for (std::size_t i = 0; i < count; ++i) rows[i * width + width - 1] = 0;  // padding
      const std::vector<double> weights = numbers(4000 + count, count);
      std::vector<double> scaled(count * width + 1, 7.0);
      std::vector<double> matrix(width * width + 1, 1.0);
      table().weighted_outer(rows.data(), width, count, weights.data(), scaled.data(),
                             matrix.data());
      for (std::size_t column = 0; column < width; ++column) {
        for (std::size_t row = column; row < width; ++row) {
          long double expected = 1;
          long double size = 1;
          for (std::size_t i = 0; i < count; ++i) {
            const long double term = static_cast<long double>(rows[i * width + row]) *
                                     rows[i * width + column] * weights[i];
            expected += term;
            size += std::abs(term);
          }
          const double bound =
              static_cast<double>(count + 3) * kEpsilon * static_cast<double>(size);
          ASSERT_NEAR(matrix[column * width + row], static_cast<double>(expected), bound);
        }
        ASSERT_EQ(matrix[column * width + width - 1], 1.0) << "padding leaked";
      }
      ASSERT_EQ(matrix[width * width], 1.0) << "wrote past the end";
      ASSERT_EQ(scaled[count * width], 7.0) << "wrote past the end";
    }
  }
}

TEST_P(KernelTable, multiply_add_agrees_with_plain_loop_for_matrices_and_transposes) {
  const std::vector<std::size_t> sizes = {1, 3, 4, 5, 9, 16, 23};
  for (const std::size_t rows : sizes) {
    for (const std::size_t columns : sizes) {
      for (const std::size_t terms : {std::size_t{0}, std::size_t{1}, std::size_t{37}}) {
        for (const bool transposed : {false, true}) {
          const std::size_t stride = columns + 3;
          const std::vector<double> a = numbers(rows, rows * terms);
          const std::vector<double> b = numbers(1000 + columns, terms * stride);
          const std::vector<double> start = numbers(2000 + terms, rows * stride);
          std::vector<double> c = start;
          const std::size_t a_row = transposed ? 1 : terms;
          const std::size_t a_term = transposed ? rows : 1;
          table().multiply_add(a.data(), a_row, a_term, b.data(), stride, c.data(), stride, rows,
                               columns, terms);
          for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < stride; ++j) {
              long double expected = start[i * stride + j];
              long double size = std::abs(expected);
              for (std::size_t t = 0; j < columns && t < terms; ++t) {
                const long double term =
                    static_cast<long double>(a[i * a_row + t * a_term]) * b[t * stride + j];
                expected += term;
                size += std::abs(term);
              }
              const double bound =
                  static_cast<double>(terms + 1) * kEpsilon * static_cast<double>(size);
              ASSERT_NEAR(c[i * stride + j], static_cast<double>(expected), bound);
            }
          }
        }
      }
    }
  }
}

double sigmoid_of(const Kernels& table, double x) {
  double p = 0;
  table.sigmoid(&x, 1, &p);
  return p;
}

// 1 - p is p(-x), so that both tails are covered by x of both signs.
TEST_P(KernelTable, sigmoid_is_accurate_in_both_tails) {
  std::vector<double> x;
  for (double value = -708.0; value <= 750.0; value += 0.0137) x.push_back(value);
  for (const double value : {0.0, -0.0, 1e-300, -1e-300, 1e-9, -1e-9, 36.7, -36.7}) {
    x.push_back(value);
  }
  std::vector<double> p(x.size());
  table().sigmoid(x.data(), x.size(), p.data());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double exact = 1 / (1 + std::exp(-static_cast<long double>(x[i])));
    worst = std::max(worst, static_cast<double>(std::abs(p[i] - exact) / exact));
  }
  EXPECT_LT(worst, 1e-14);
}

TEST_P(KernelTable, sigmoid_far_out_stays_within_bounds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double x : {708.0, 709.0, 720.0, 745.0, 750.0, 1e5, 1e300, kInfinity}) {
    EXPECT_EQ(sigmoid_of(table(), x), 1.0) << x;
    const double p = sigmoid_of(table(), -x);
    EXPECT_GE(p, 0.0) << x;
    EXPECT_LT(p, 3.4e-308) << x;  // exp(-708) where the exact value is smaller still
  }
  EXPECT_EQ(sigmoid_of(table(), 0.0), 0.5);
}

TEST_P(KernelTable, sigmoid_of_nan_is_nan_whatever_its_payload) {
  for (const std::uint64_t bits : {0x7ff8000000000000ULL, 0xfff8000000000000ULL,
                                   0x7ff8000000000001ULL, 0xfff8000000000fffULL}) {
    EXPECT_TRUE(std::isnan(sigmoid_of(table(), std::bit_cast<double>(bits)))) << bits;
  }
}

TEST_P(KernelTable, sigmoid_does_not_depend_on_the_place_in_the_array) {
  const std::vector<double> x = numbers(5, 23);
  std::vector<double> p(x.size());
  table().sigmoid(x.data(), x.size(), p.data());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(p[i], sigmoid_of(table(), x[i]));
}

// Compares with plain sums in long double, at every remainder of the lanes; exp() of one component
// is below that of -708.
TEST_P(KernelTable, normal_mixture_agrees_with_plain_sums) {
  const std::vector<double> variances = {1e-12, 0.3, 1.0, 7.0, 1e9};
  const std::vector<double> weights = {0.1, 0.2, 0.4, 0.2999, 1e-4};
  for (std::size_t count = 0; count <= 33; ++count) {
    const std::vector<double> z = numbers(count, 2 * count);
    std::vector<double> squares(count);
    std::vector<double> added(count);
    for (std::size_t i = 0; i < count; ++i) {
      squares[i] = 100 * z[i] * z[i];
      added[i] = i % 3 == 0 ? 0 : std::abs(z[count + i]);
    }
    std::vector<double> density(count);
    table().normal_mixture(squares.data(), added.data(), count, variances.data(), weights.data(),
                           variances.size(), density.data());
    for (std::size_t i = 0; i < count; ++i) {
      long double exact = 0;
      for (std::size_t j = 0; j < variances.size(); ++j) {
        const long double v = static_cast<long double>(variances[j]) + added[i];
        exact += weights[j] * std::exp(-squares[i] / (2 * v)) / std::sqrt(v);
      }
      EXPECT_NEAR(density[i], static_cast<double>(exact), 1e-13 * static_cast<double>(exact)) << i;
    }
  }
}

TEST_P(KernelTable, normal_mixture_far_out_is_0_and_of_nan_nan) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double variance = 2;
  const double weight = 1;
  const auto density = [&](double square, double added) {
    double of = -1;
    table().normal_mixture(&square, &added, 1, &variance, &weight, 1, &of);
    return of;
  };
  EXPECT_GT(density(4 * 707.9, 0), 0);
  for (const double square : {4 * 708.1, 1e5, 1e300, HUGE_VAL}) EXPECT_EQ(density(square, 0), 0);
  EXPECT_TRUE(std::isnan(density(kNan, 0)));
  EXPECT_TRUE(std::isnan(density(1, kNan)));
}

TEST(Kernels, table_is_that_of_the_instruction_set) {
  const InstructionSet best = instruction_set();
  limit_instruction_set(InstructionSet::kBaseline);
  EXPECT_EQ(&kernels(), &kKernelsBaseline);
  limit_instruction_set(best);
  EXPECT_EQ(&kernels(), best == InstructionSet::kAvx512 ? &kKernelsAvx512
                        : best == InstructionSet::kAvx2 ? &kKernelsAvx2
                                                        : &kKernelsBaseline);
}

// Products of a matrix with a vector against plain loops, at every remainder of the widths.
TEST_P(KernelTable, matrix_products_agree_with_plain_loops) {
  for (std::size_t d = 1; d <= 70; ++d) {
    std::vector<double> lower = numbers(d, d * d);
    std::vector<double> symmetric(d * d);
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t i = 0; i < d; ++i)
        symmetric[j * d + i] = lower[std::max(i, j) * d + std::min(i, j)];
      // What is not to be read.
      const std::size_t block = j - j % kSymmetricBlock;
      std::fill_n(symmetric.begin() + static_cast<std::ptrdiff_t>(j * d), block, std::nan(""));
      std::fill_n(lower.begin() + static_cast<std::ptrdiff_t>(j * d), j, 0.0);
    }
    const std::vector<double> x = numbers(1000 + d, d);
    const std::vector<double> start = numbers(2000 + d, d);
    // {entry(i, j), product}
    const auto check = [&](auto&& entry, double scale, auto&& product, const char* name) {
      std::vector<double> y = start;
      y.push_back(7.0);
      product(y.data());
      for (std::size_t i = 0; i < d; ++i) {
        long double sum = start[i];
        long double size = std::abs(sum);
        for (std::size_t j = 0; j < d; ++j) {
          const long double term = static_cast<long double>(scale) * entry(i, j) * x[j];
          sum += term;
          size += std::abs(term);
        }
        const double bound = static_cast<double>(d + 3) * kEpsilon * static_cast<double>(size);
        ASSERT_NEAR(y[i], static_cast<double>(sum), bound) << name << ", D = " << d << ", " << i;
      }
      ASSERT_EQ(y[d], 7.0) << name << " wrote past the end";
    };
    check([&](std::size_t i, std::size_t j) { return lower[j * d + i]; }, 1.0,
          [&](double* y) { table().triangular_product(lower.data(), d, x.data(), y); },
          "triangular");
    check([&](std::size_t i, std::size_t j) { return lower[i * d + j]; }, -0.5,
          [&](double* y) {
            table().triangular_transposed_product(lower.data(), d, -0.5, x.data(), y);
          },
          "transposed");
    check([&](std::size_t i,
              std::size_t j) { return symmetric[std::min(i, j) * d + std::max(i, j)]; },
          -1.5,
          [&](double* y) { table().symmetric_product(symmetric.data(), d, -1.5, x.data(), y); },
          "symmetric");
  }
}

}  // namespace
}  // namespace windhover::kernels_test
