// What an experiment is run with: where its data lie, how thorough to be, and a memory for finished
// parts.
#ifndef WINDHOVER_TOOLS_REPRODUCE_CONTEXT_H_
#define WINDHOVER_TOOLS_REPRODUCE_CONTEXT_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

  // Run time of this run and of those that it resumes, each up to its last finished part.
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

struct Settings {
  std::filesystem::path data = {};  // directory with the data sets; empty: none
  std::filesystem::path out = {};   // directory for what is written
  bool quick = false;               // fewer seeds, steps and settings
  bool resume = false;              // keep the parts that an earlier run finished
  bool fresh = false;               // throw them away
  unsigned threads = 2;
  std::uint64_t seed = 1;
};

// Called with the share done (0 to 1) and what is being done; from one thread at a time.
using ProgressFunction = std::function<void(double share, const std::string& text)>;

// A stretch of the progress, from one share to another, and what is done in it; without a text it
// is not told.
struct Stage {
  std::string text = {};
  double begin = 0;
  double end = 1;
};

// The arguments of Context::part().
struct PartJob {
  std::string key;
  std::string settings;
  std::function<nlohmann::ordered_json()> compute;
};

// Where an experiment keeps its parts.
std::filesystem::path parts_of(const Settings& settings, std::string_view experiment);

// Every function may be called by all threads of parallel().
class Context {
 public:
  // `files` are those of settings.data that the experiment reads, where they are there. Parts lie
  // in parts_of(settings, NAME); without settings.resume those of earlier runs go.
  Context(Settings settings, std::string_view experiment, std::span<const std::string_view> files,
          ProgressFunction progress);

  const Settings& settings() const { return settings_; }
  bool quick() const { return settings_.quick; }
  std::uint64_t seed() const { return settings_.seed; }
  // `thorough`, or with --quick the other.
  template <class T>
  T choose(T quick, T thorough) const {
    return settings_.quick ? quick : thorough;
  }

  // Which of the files is not there, in words; empty when all are.
  std::string missing(std::span<const std::string_view> names) const;
  // Path of a data file; UserError when it is not there.
  std::string file(std::string_view name) const;

  void progress(double share, const std::string& text) const;

  // What `compute` gives, or gave in an earlier run with the same seed, thoroughness and data: the
  // unit of resuming. `settings` are what else it depends on and `key`, a file name, does not say.
  // Numbers that are not finite come back as null.
  nlohmann::ordered_json part(const std::string& key, const std::string& settings,
                              const std::function<nlohmann::ordered_json()>& compute) const {
    return parts_.part(key, settings, compute);
  }
  // What each gives, in their order; on all threads.
  std::vector<nlohmann::ordered_json> run_parts(const std::vector<PartJob>& jobs,
                                                const Stage& stage = {}) const;
  Parts& parts() const { return parts_; }

  // Does work(0) to work(count - 1), on settings().threads threads. What one throws is thrown here
  // when all have ended.
  void parallel(std::size_t count, const std::function<void(std::size_t)>& work) const;
  // Reports every job that ends as progress.
  void parallel(std::size_t count, const Stage& stage,
                const std::function<void(std::size_t)>& work) const;

 private:
  Settings settings_;
  mutable Parts parts_;
  ProgressFunction progress_;
  mutable std::mutex mutex_;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_CONTEXT_H_
