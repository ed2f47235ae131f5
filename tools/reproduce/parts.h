// The memory of a long run: what its finished parts gave, and how long it has taken.
#ifndef WINDHOVER_TOOLS_REPRODUCE_PARTS_H_
#define WINDHOVER_TOOLS_REPRODUCE_PARTS_H_

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace windhover::reproduce {

// One file a part in a directory of their own, and elapsed.json: whose run they are, its seconds,
// and whether it came to its end. Every function may be called by several threads.
class Parts {
 public:
  // Parts of other runs are of no use: those whose `run` (seed, thoroughness, data) differs.
  // Without `resume` all that is in the directory goes.
  Parts(std::filesystem::path directory, nlohmann::ordered_json run, bool resume);

  // What `compute` gives, or gave in an earlier run with the same `settings`. Numbers that are not
  // finite come back as null. `key` is a file name.
  nlohmann::ordered_json part(const std::string& key, const std::string& settings,
                              const std::function<nlohmann::ordered_json()>& compute);

  // Of this run and of those that it resumes, each up to its last finished part.
  double seconds() const;
  // Programs that the parts come from, told apart by their bytes.
  std::size_t builds() const;
  // The run came to its end: the directory may go when another begins.
  void finish();

 private:
  void write_elapsed(bool finished) const;

  std::filesystem::path directory_;
  nlohmann::ordered_json run_;
  bool resume_;
  double earlier_seconds_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::set<std::string> builds_;
};

// Whether there is something in the directory that only `--fresh` may throw away.
bool has_unfinished_parts(const std::filesystem::path& directory);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_PARTS_H_
