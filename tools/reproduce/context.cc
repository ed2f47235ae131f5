#include "windhover/tools/reproduce/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <thread>
#include <vector>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/data_files.h"
#include "windhover/tools/reproduce/files.h"

namespace windhover::reproduce {

using nlohmann::ordered_json;

Context::Context(Settings settings, std::string_view experiment, ProgressFunction progress)
    : settings_(std::move(settings)),
      parts_(settings_.out / fmt::format("{}.parts", experiment)),
      progress_(std::move(progress)) {
  if (!settings_.resume) std::filesystem::remove_all(parts_);
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

ordered_json Context::identity() const {
  return {{"seed", settings_.seed}, {"quick", settings_.quick}};
}

ordered_json Context::part(const std::string& key,
                           const std::function<ordered_json()>& compute) const {
  const std::filesystem::path path = parts_ / (key + ".json");
  if (settings_.resume) {
    std::ifstream file(path);
    // A part that was cut off while it was written does not parse and is computed again.
    const ordered_json kept = ordered_json::parse(file, nullptr, false);
    if (!kept.is_discarded() && kept.value("run", ordered_json()) == identity()) {
      return kept.at("value");
    }
  }
  const ordered_json kept = {{"run", identity()}, {"value", compute()}};
  const std::string text = kept.dump();
  write_file(path, text);
  // From its text, so that a resumed run goes on with the same numbers, null for null.
  return ordered_json::parse(text).at("value");
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

}  // namespace windhover::reproduce
