// Files of 2,000 rows and short fits of them.
#ifndef WINDHOVER_TESTS_TOOLS_FIT_OPTIONS_H_
#define WINDHOVER_TESTS_TOOLS_FIT_OPTIONS_H_

#include <cmath>
#include <string>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/fit/fit.h"

namespace windhover {

inline std::string file_of(bool binary) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 2000; ++i) {
    const double a = std::sin(i * 1.7), b = std::cos(i * 0.91) * 3 + 10;
    const double y = 0.5 * a - 0.2 * b + std::sin(i * 12.9898) * 1.3 + 2;
    text += std::to_string(a) + "," + std::to_string(b) + "," +
            (binary ? (y > 0 ? "yes" : "no") : std::to_string(y)) + "\n";
  }
  return file_with(binary ? "fit_binary.csv" : "fit_linear.csv", text);
}

inline FitOptions options_of(bool binary) {
  FitOptions o;
  o.path = file_of(binary);
  o.data = {.target = "y"};
  o.standardize = true;
  o.steps = 40'000;
  o.sampler_config.chains = 4;
  if (binary) {
    o.model = "logistic";
    o.data.positive = "yes";
  }
  return o;
}

// Rows of three towns, with empty cells. Prices in town b are 30,000 higher.
inline FitOptions towns() {
  std::string text = "sqm,town,price\n";
  std::vector<double> noise(1200);
  fill_normals(18, {.purpose = Purpose::kTest}, noise);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const double sqm = 100 + 40 * std::sin(static_cast<double>(i) * 1.7);
    const char* town = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c";
    const double price = 3'000 * sqm + (i % 3 == 1 ? 30'000 : 0) + 20'000 * noise[i];
    if (i % 50 != 7) text += std::to_string(sqm);
    text += std::string(",") + town + "," + std::to_string(price) + "\n";
  }
  FitOptions o;
  o.path = file_with("fit_towns.csv", text);
  o.data.target = "price";
  o.steps = 20'000;
  o.sampler_config.chains = 4;
  return o;
}

}  // namespace windhover

#endif  // WINDHOVER_TESTS_TOOLS_FIT_OPTIONS_H_
