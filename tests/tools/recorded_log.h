// A daemon's log in a file, for tests of what goes into it.
#ifndef WINDHOVER_TESTS_TOOLS_RECORDED_LOG_H_
#define WINDHOVER_TESTS_TOOLS_RECORDED_LOG_H_

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "windhover/runtime/prediction/predictive.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/daemon/daemon_log.h"

namespace windhover::testing {

inline constexpr std::int64_t kSecond = 1'000'000'000;

// A log in a file, whose lines are looked at without their time.
class RecordedLog {
 public:
  explicit RecordedLog(const std::string& name)
      : path_(path_of(name)), log_({LogFormat::kText, LogLevel::kDebug, path_}) {}

  DaemonLog& log() { return log_; }

  // The lines since this was last asked.
  std::vector<std::string> lines() {
    log_.drain();
    std::ifstream file(path_);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);)
      all.push_back(line.substr(line.find(' ') + 1));
    std::vector<std::string> news(all.begin() + static_cast<std::ptrdiff_t>(seen_), all.end());
    seen_ = all.size();
    return news;
  }

 private:
  std::string path_;
  DaemonLog log_;
  std::size_t seen_ = 0;
};

// The provenance of some rows, with that status.
inline Provenance provenance_with(PosteriorStatus status, StatusReason reason) {
  Provenance provenance;
  provenance.status = status;
  provenance.reason = reason;
  provenance.n_seen = 1000;
  provenance.n_eff = 500;
  provenance.draws = 64;
  provenance.drift_score = 5.5;
  return provenance;
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_TOOLS_RECORDED_LOG_H_
