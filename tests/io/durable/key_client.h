// A client of a server on disk that asks with keys and tells outcomes.
#ifndef WINDHOVER_TESTS_IO_DURABLE_KEY_CLIENT_H_
#define WINDHOVER_TESTS_IO_DURABLE_KEY_CLIENT_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/tests/io/durable/stream_on_disk.h"

namespace windhover::testing {

inline EngineConfig keyed_engine(std::uint32_t pending = 1'024) {
  EngineConfig config = exact_engine();
  config.labels.pending = pending;
  config.labels.timeout_seconds = 60;
  config.score_predictions = true;
  return config;
}

// Asks about rows whose first feature is the number that their key says, and tells their outcomes.
class KeyClient {
 public:
  explicit KeyClient(ServerLife& life) {
    EXPECT_EQ(client_.connect(life.observe()), Status::kOk) << client_.error_text();
  }
  PendingKey ask(std::uint64_t number) {
    const std::string name = std::to_string(number);
    const std::string_view key = name;
    const std::array<double, kFeatures> x = {static_cast<double>(number), 0.5, 1};
    PredictRequest request;
    request.rows = 1;
    request.features = x;
    request.keys = {&key, 1};
    std::vector<PredictiveSummary> answers;
    Provenance provenance;
    EXPECT_EQ(client_.predict(request, answers, provenance), Status::kOk) << client_.error_text();
    return answers.at(0).pending;
  }
  v1::OutcomeResult tell(std::uint64_t number) {
    const std::string name = std::to_string(number);
    const std::string_view key = name;
    const double y = 1;
    v1::OutcomeResult told;
    EXPECT_EQ(client_.outcomes({&key, 1}, {&y, 1}, told), Status::kOk) << client_.error_text();
    return told;
  }
  // Sends outcomes, and does not wait.
  void shout(const std::vector<std::uint64_t>& numbers) {
    v1::Request request;
    for (const std::uint64_t number : numbers) {
      request.mutable_outcome()->add_keys(std::to_string(number));
      request.mutable_outcome()->add_targets(1);
    }
    EXPECT_EQ(client_.send(request), Status::kOk);
  }

 private:
  Client client_;
};

enum class Became { kAccepted, kDuplicate, kUnknown, kTimedOut };
inline Became of(const v1::OutcomeResult& told) {
  if (told.accepted() == 1) return Became::kAccepted;
  if (told.duplicate() == 1) return Became::kDuplicate;
  return told.refused_reason(0) == v1::REASON_KEY_TIMED_OUT ? Became::kTimedOut : Became::kUnknown;
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_DURABLE_KEY_CLIENT_H_
