#include "windhover/tools/reproduce/driver.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <thread>

#include "windhover/tools/data/nearest.h"
#include "windhover/tools/error.h"
#include "windhover/tools/gnuplot.h"
#include "windhover/tools/processor.h"
#include "windhover/tools/reproduce/files.h"

namespace windhover::reproduce {

using nlohmann::ordered_json;

namespace {

std::string processor() {
  const std::string name = processor_name();
  return name.empty() ? "unknown processor" : name;
}

// The word, quoted for a shell where needed.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:=@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// `name`: of the experiment, or "all", as the user gave it.
std::string command_of(const std::string& name, const Settings& settings) {
  std::string out = fmt::format("windhover reproduce {}", name);
  if (!settings.data.empty()) out += fmt::format(" --data {}", quoted(settings.data.string()));
  out += fmt::format(" --out {}", quoted(settings.out.string()));
  if (settings.quick) out += " --quick";
  if (settings.resume) out += " --resume";
  if (settings.fresh) out += " --fresh";
  return out + fmt::format(" --seed {} --threads {}", settings.seed, settings.threads);
}

RunFacts facts_of(const Experiment& experiment, const std::string& name, const Context& context) {
  const Settings& settings = context.settings();
  return {.name = std::string(experiment.name),
          .source = std::string(experiment.source),
          .summary = std::string(experiment.summary),
          .command = command_of(name, settings),
          .quick = settings.quick && experiment.has_quick,
          .seed = settings.seed,
          .threads = settings.threads,
          .cores = std::thread::hardware_concurrency(),
          .processor = processor(),
          .seconds = context.parts().seconds(),
          .builds = context.parts().builds()};
}

std::pair<int, int> bars_met(const ordered_json& result) {
  int met = 0;
  int bars = 0;
  for (const auto& figure : result.at("figures")) {
    if (figure.at("bar").is_null()) continue;
    ++bars;
    if (figure.at("met").get<bool>()) ++met;
  }
  return {met, bars};
}

// The file that says why the newest run failed; the result of an earlier run stays beside it.
std::filesystem::path failure_file(const std::filesystem::path& out, std::string_view name) {
  return out / fmt::format("{}.failed", name);
}
std::string failure_in(const std::filesystem::path& out, std::string_view name) {
  std::ifstream file(failure_file(out, name));
  std::string sentence;
  std::getline(file, sentence);
  return sentence;
}

void write_index(std::span<const Experiment> experiments, const Settings& settings) {
  std::string text = "# The papers' experiments, redone\n\n";
  text += "| experiment | source | bars met | run time | |\n| --- | --- | --- | --- | --- |\n";
  for (const Experiment& experiment : experiments) {
    // The result may be an earlier run's or this one's.
    const ordered_json result = read_json(settings.out / fmt::format("{}.json", experiment.name));
    const std::string missing = missing_data(experiment, settings.data);
    const std::string failure = failure_in(settings.out, experiment.name);
    if (!failure.empty() || result.is_null()) {
      text += fmt::format("| {} | {} | | | {} |\n", experiment.name, experiment.source,
                          !failure.empty()  ? "failed: " + failure
                          : missing.empty() ? "not run yet"
                                            : missing);
      continue;
    }
    const auto [met, bars] = bars_met(result);
    std::vector<std::string> remarks;
    if (result.at("quick").get<bool>()) remarks.emplace_back("quick");
    // Absent from results of earlier versions.
    for (const auto& what : result.value("left_out", ordered_json::array())) {
      remarks.push_back("left out: " + what.get<std::string>());
    }
    text += fmt::format("| [{0}]({0}.md) | {1} | {2} | {3:.0f} s | {4} |\n", experiment.name,
                        experiment.source, bars > 0 ? fmt::format("{} of {}", met, bars) : "-",
                        std::ceil(result.at("seconds").get<double>()), fmt::join(remarks, "; "));
  }
  write_file(settings.out / "index.md", text);
}

Outcome run_one(const Experiment& experiment, const std::string& name, const Settings& settings,
                const ProgressFunction& progress) {
  Outcome outcome{.name = std::string(experiment.name)};
  outcome.sentence = missing_data(experiment, settings.data);
  if (!outcome.sentence.empty()) {
    outcome.skipped = true;
    return outcome;
  }
  const Context context(settings, experiment.name, experiment.files, progress);
  Report report;
  report.plot().title = fmt::format("{}: {}", experiment.name, experiment.source);
  experiment.run(context, report);

  const RunFacts facts = facts_of(experiment, name, context);
  const ordered_json result = report.to_json(facts);
  const auto path = [&](const char* suffix) { return settings.out / (outcome.name + suffix); };
  // The numbers are written first, so that they are safe when gnuplot fails.
  write_file(path(".md"), report.page(facts));
  write_file(path(".json"), result.dump(1) + "\n");
  if (!report.plot().panels.empty()) {
    write_file(path(".gp"), gnuplot_script(report.plot(), outcome.name));
    draw(settings.out, outcome.name);
  }
  context.parts().finish();
  std::filesystem::remove(failure_file(settings.out, experiment.name));
  const auto [met, bars] = bars_met(result);
  outcome.sentence = fmt::format("{} figures{} in {:.0f} s: {}", report.figures().size(),
                                 bars > 0 ? fmt::format(", {} of {} bars met", met, bars) : "",
                                 std::ceil(facts.seconds), path(".md").string());
  return outcome;
}

}  // namespace

std::string missing_data(const Experiment& experiment, const std::filesystem::path& data) {
  if (data.empty() && !experiment.files.empty()) {
    return fmt::format("skipped: without --data there is no {}", fmt::join(experiment.files, ", "));
  }
  if (experiment.any_files) {
    const auto there = [&](std::string_view name) { return find_in(data, name).has_value(); };
    if (std::ranges::any_of(experiment.files, there)) return "";
  }
  const std::string missing = missing_in(data, experiment.files);
  return missing.empty() ? "" : "skipped: " + missing;
}

bool run_experiments(std::span<const Experiment> experiments, const std::string& name,
                     const Settings& settings, const ProgressFunction& progress,
                     const std::function<void(const Outcome&)>& told) {
  std::vector<std::string> names;
  std::vector<Experiment> chosen;
  const bool all = name == "all";
  for (const Experiment& experiment : experiments) {
    names.emplace_back(experiment.name);
    if (all || experiment.name == name) chosen.push_back(experiment);
  }
  if (!all && chosen.empty()) {
    names.insert(names.end(), {"all", "list"});
    throw UserError(fmt::format("there is no experiment \"{}\"{}; there are {}", name,
                                did_you_mean(name, names), fmt::join(names, ", ")));
  }
  for (const Experiment& experiment : chosen) {
    if (experiment.files.empty() || !settings.data.empty()) continue;
    throw UserError(fmt::format("--data is missing: the directory where {} finds {}",
                                experiment.name, fmt::join(experiment.files, ", ")));
  }
  for (const Experiment& experiment : chosen) {
    const std::filesystem::path parts = parts_of(settings, experiment.name);
    if (settings.resume || settings.fresh || !has_unfinished_parts(parts)) continue;
    throw UserError(
        fmt::format("{} holds parts of a run that did not come to its end: --resume goes on with "
                    "them, --fresh throws them away",
                    parts.string()));
  }
  prepare_directory(settings.out);
  require_gnuplot();
  bool sound = true;
  std::exception_ptr unwritten;
  // With "all", a failure to write does not stop the other experiments.
  const auto try_to = [&](const std::function<void()>& write) {
    try {
      write();
    } catch (...) {
      if (!unwritten) unwritten = std::current_exception();
    }
  };
  for (const Experiment& experiment : chosen) {
    std::exception_ptr failure;
    try {
      told(run_one(experiment, name, settings, progress));
    } catch (const std::exception& error) {
      failure = std::current_exception();
      sound = false;
      const std::string sentence = error.what();
      try_to([&] { write_file(failure_file(settings.out, experiment.name), sentence + "\n"); });
      if (all) told({.name = std::string(experiment.name), .failed = true, .sentence = sentence});
    }
    try_to([&] { write_index(experiments, settings); });
    if (failure && !all) std::rethrow_exception(failure);
  }
  if (unwritten) std::rethrow_exception(unwritten);
  return sound;
}

ordered_json list_json(std::span<const Experiment> experiments) {
  ordered_json list = ordered_json::array();
  for (const Experiment& experiment : experiments) {
    list.push_back({{"name", experiment.name},
                    {"source", experiment.source},
                    {"summary", experiment.summary},
                    {"files", experiment.files}});
  }
  return list;
}

std::string list_text(std::span<const Experiment> experiments) {
  const auto length = [](const Experiment& experiment) { return experiment.name.size(); };
  const std::size_t width =
      experiments.empty() ? 0 : length(std::ranges::max(experiments, {}, length));
  std::string out;
  for (const Experiment& experiment : experiments) {
    out += fmt::format("{:<{}}  {}: {}\n", experiment.name, width, experiment.source,
                       experiment.summary);
    if (!experiment.files.empty()) {
      out += fmt::format("{:<{}}  needs {}\n", "", width, fmt::join(experiment.files, ", "));
    }
  }
  return out;
}

}  // namespace windhover::reproduce
