// A client: sends rows to one address and asks at another.
//   send_and_ask OBSERVE_ADDRESS QUERY_ADDRESS
#include <chrono>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "windhover/io/client.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: send_and_ask OBSERVE_ADDRESS QUERY_ADDRESS\n");
    return 2;
  }
  std::vector<double> features(500);
  std::vector<double> targets(500);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> where(0, 5);
  std::normal_distribution<double> noise(0, 0.1);
  for (std::size_t i = 0; i < 500; ++i) {
    features[i] = where(random);
    targets[i] = 2 + 3 * features[i] + noise(random);
  }
  windhover::Client observe;
  windhover::Client query;
  if (!windhover::ok(observe.connect(argv[1])) || !windhover::ok(query.connect(argv[2]))) {
    std::fprintf(stderr, "%s%s\n", observe.error_text().c_str(), query.error_text().c_str());
    return 1;
  }
  windhover::ObserveRows rows;
  rows.features = features;
  rows.targets = targets;
  if (!windhover::ok(observe.observe(rows))) return 1;

  const double x = 2.5;
  windhover::PredictRequest request;
  request.rows = 1;
  request.features = {&x, 1};
  std::vector<windhover::PredictiveSummary> answers;
  windhover::Provenance provenance;
  do {  // until the answer stands on all of them
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!windhover::ok(query.predict(request, answers, provenance))) return 1;
  } while (provenance.sequence < features.size() ||
           provenance.status == windhover::PosteriorStatus::kWarmingUp);
  std::printf("y at 2.5: %.2f, 90 %% of y within %.2f .. %.2f (%s)\n", answers[0].mean,
              answers[0].interval_lower, answers[0].interval_upper,
              windhover::to_string(provenance.status));
}
