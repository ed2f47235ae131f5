// The settings of a run of an experiment, and its finished parts, which a later run can take over.
#ifndef WINDHOVER_TOOLS_REPRODUCE_CONTEXT_H_
#define WINDHOVER_TOOLS_REPRODUCE_CONTEXT_H_

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

#include "windhover/tools/processor.h"

namespace windhover::reproduce {

// A directory with one file per part and elapsed.json: the run they belong to, its seconds, and
// whether it ended. Every function may be called by several threads.
class Parts {
 public:
  // Parts whose `run` (seed, thoroughness, data) differs are not used. Without `resume` everything
  // in the directory is removed.
  Parts(std::filesystem::path directory, nlohmann::ordered_json run, bool resume);

  // The result of `compute`, or of an earlier run with the same `settings`. Numbers that are not
  // finite come back as null. `key` is a file name.
  nlohmann::ordered_json part(const std::string& key, const std::string& settings,
                              const std::function<nlohmann::ordered_json()>& compute);

  // Seconds of this run and of the runs that it resumes, each of those up to its last finished
  // part.
  double seconds() const;
  // The number of builds of the program that the parts come from, told apart by their bytes.
  std::size_t builds() const;
  // Records that the run ended: a later run may remove the directory.
  void finish();

 private:
  void write_elapsed(bool finished) const;

  std::filesystem::path directory_;
  nlohmann::ordered_json run_;
  bool resume_;
  double earlier_seconds_ = 0;
  double start_ = wall_seconds();
  mutable std::mutex mutex_;
  std::set<std::string> builds_;
};

// Whether the directory holds parts of a run that did not end.
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

// A stretch of the progress, from one share to another. `text` says what is done in it; without a
// text no progress is reported.
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
  // `files`: names of all files that the experiment may read from settings.data. Parts are in
  // parts_of(settings, experiment); without settings.resume those of earlier runs are removed.
  Context(Settings settings, std::string_view experiment, std::span<const std::string_view> files,
          ProgressFunction progress);

  const Settings& settings() const { return settings_; }
  bool quick() const { return settings_.quick; }
  std::uint64_t seed() const { return settings_.seed; }
  // `thorough`, or `quick` with --quick.
  template <class T>
  T choose(T quick, T thorough) const {
    return settings_.quick ? quick : thorough;
  }

  // Names the first of the files that is missing, in words; empty when none is.
  std::string missing(std::span<const std::string_view> names) const;
  // Path of a data file; UserError when it is not there.
  std::string file(std::string_view name) const;

  void progress(double share, const std::string& text) const;

  // The result of `compute`, or of an earlier run with the same seed, thoroughness and data. A part
  // is the unit of resuming. `settings` holds all else that the result depends on and that `key`, a
  // file name, does not say. Numbers that are not finite come back as null.
  nlohmann::ordered_json part(const std::string& key, const std::string& settings,
                              const std::function<nlohmann::ordered_json()>& compute) const {
    return parts_.part(key, settings, compute);
  }
  // The results of all jobs, in the order of the jobs, computed on all threads.
  std::vector<nlohmann::ordered_json> run_parts(const std::vector<PartJob>& jobs,
                                                const Stage& stage = {}) const;
  Parts& parts() const { return parts_; }

  // Calls work(0) to work(count - 1) on settings().threads threads. The first exception ends the
  // rest and is thrown here once all threads have ended.
  void parallel(std::size_t count, const std::function<void(std::size_t)>& work) const;
  // As above; reports progress after every job.
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
