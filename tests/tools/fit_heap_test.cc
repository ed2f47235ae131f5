#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "windhover/samplers/registry.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/fit/fit.h"

namespace windhover::fit_heap_test {
namespace {

// 600 rows of two numbers, a target, and how many trials it is of.
std::string rows_of(Response response) {
  std::string text = "a,b,n,y\n";
  for (int i = 0; i < 600; ++i) {
    const double a = std::sin(i * 1.7), b = std::cos(i * 0.91);
    const double y = a - 0.3 * b + std::sin(i * 12.9898);
    const int level = y > 0.5 ? 2 : y > -0.5 ? 1 : 0;
    const std::string target = response == Response::kBernoulli   ? (y > 0 ? "yes" : "no")
                               : response == Response::kLogNormal ? std::to_string(std::exp(y))
                               : is_number(response)              ? std::to_string(y)
                                                                  : std::to_string(level);
    text += std::to_string(a) + "," + std::to_string(b) + ",4," + target + "\n";
  }
  return file_with("fit_heap.csv", text);
}

TEST(FitHeap, NoModelTakesFromItWhileItIsFitted) {
#ifdef WINDHOVER_SANITIZED
  GTEST_SKIP() << "nobody counts";
#endif
  for (const ModelEntry& model : model_registry()) {
    const auto counted = [&](Horizon horizon) {
      FitOptions o;
      o.path = rows_of(model.response);
      o.data.target = "y";
      if (model.response == Response::kBinomial)
        o.data.trials = "n";
      else
        o.data.leave_out = {"n"};
      o.model = model.name;
      o.horizon.horizon = horizon;
      o.steps = 20'000;
      std::uint64_t told = 0;
      o.tell = [&told](std::uint64_t) { ++told; };
      const auto out = fit(o);
      EXPECT_EQ(told > 0, horizon == Horizon::kWindow);
      return out["allocations_after_start"];
    };
    EXPECT_EQ(counted(Horizon::kWindow), 0) << model.name;
    if (!model.network) {
      EXPECT_EQ(counted(Horizon::kAll), 0) << model.name;
    }
  }
}

}  // namespace
}  // namespace windhover::fit_heap_test
