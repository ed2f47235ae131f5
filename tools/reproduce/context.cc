#include "windhover/tools/reproduce/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/data_files.h"

namespace windhover::reproduce {

using nlohmann::ordered_json;

namespace {

// The seed, the thoroughness and the data, by name and size.
ordered_json identity(const Settings& settings, std::span<const std::string_view> files) {
  ordered_json data = ordered_json::object();
  for (const std::string_view name : files) {
    const auto path = find_in(settings.data, name);
    if (path) data[path->filename().string()] = std::filesystem::file_size(*path);
  }
  return {{"seed", settings.seed}, {"quick", settings.quick}, {"data", data}};
}

}  // namespace

std::filesystem::path parts_of(const Settings& settings, std::string_view experiment) {
  return settings.out / fmt::format("{}.parts", experiment);
}

Context::Context(Settings settings, std::string_view experiment,
                 std::span<const std::string_view> files, ProgressFunction progress)
    : settings_(std::move(settings)),
      parts_(parts_of(settings_, experiment), identity(settings_, files), settings_.resume),
      progress_(std::move(progress)) {}

std::string Context::missing(std::span<const std::string_view> names) const {
  return missing_in(settings_.data, names);
}

std::string Context::file(std::string_view name) const {
  const auto path = find_in(settings_.data, name);
  if (!path) throw UserError(fmt::format("{} is not in {}", name, settings_.data.string()));
  return path->string();
}

void Context::progress(double share, const std::string& text) const {
  const std::lock_guard lock(mutex_);
  if (progress_) progress_(share, text);
}

void Context::parallel(std::size_t count, const std::function<void(std::size_t)>& work) const {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::jthread> threads;
  const std::size_t wanted = std::min<std::size_t>(settings_.threads, count);
  for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(run);
  run();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

void Context::parallel(std::size_t count, const Stage& stage,
                       const std::function<void(std::size_t)>& work) const {
  std::atomic<std::size_t> done = 0;
  parallel(count, [&](std::size_t i) {
    work(i);
    const std::size_t now = ++done;
    const double share = static_cast<double>(now) / static_cast<double>(count);
    if (stage.text.empty()) return;
    progress(stage.begin + (stage.end - stage.begin) * share,
             fmt::format("{}: {} of {}", stage.text, now, count));
  });
}

std::vector<ordered_json> Context::run_parts(const std::vector<PartJob>& jobs,
                                             const Stage& stage) const {
  std::vector<ordered_json> results(jobs.size());
  parallel(jobs.size(), stage, [&](std::size_t i) {
    results[i] = part(jobs[i].key, jobs[i].settings, jobs[i].compute);
  });
  return results;
}

}  // namespace windhover::reproduce
