#include "windhover/tools/reproduce/stan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/files.h"

namespace windhover::reproduce {
namespace {

// Debian's Boost lies outside of R.
constexpr const char* kScript = R"R(suppressMessages(library(rstan))
if (!nzchar(system.file("include", package = "BH"))) rstan_options(boost_lib = "/usr/include")
arguments <- commandArgs(trailingOnly = TRUE)
table <- as.matrix(read.csv("stan-data.csv", header = FALSE))
d <- ncol(table) - 1
model <- stan_model(model_code = "
data { int N; int D; matrix[N, D] x; int<lower=0, upper=1> y[N]; }
parameters { vector[D] theta; }
model { theta ~ normal(0, 1); y ~ bernoulli_logit_glm(x, 0, theta); }")
fit <- sampling(model, chains = 1, refresh = 0, seed = as.integer(arguments[2]),
                warmup = 1000, iter = 1000 + as.integer(arguments[1]),
                data = list(N = nrow(table), D = d, x = table[, 1:d], y = as.integer(table[, d + 1])))
draws <- as.matrix(fit, pars = "theta")
listed <- function(x) paste0("[", paste(format(x, digits = 12), collapse = ","), "]")
seconds <- get_elapsed_time(fit)
cat(sprintf('{"mean":%s,"sd":%s,"bulk":%s,"warm_up":%g,"draws":%g}\n',
            listed(colMeans(draws)), listed(apply(draws, 2, sd)), listed(apply(draws, 2, ess_bulk)),
            seconds[1, "warmup"], seconds[1, "sample"]), file = "stan-result.json")
)R";

// Runs Rscript in `directory`, its output in stan.log; the exit code, 127 without the program.
int run_r(const std::filesystem::path& directory, std::vector<std::string> arguments) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "stan.log",
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  arguments.insert(arguments.begin(), "Rscript");
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "Rscript", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return 127;
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}

}  // namespace

bool has_stan() {
  const auto directory = std::filesystem::temp_directory_path();
  return run_r(directory, {"-e", "quit(status = !requireNamespace('rstan', quietly = TRUE))"}) == 0;
}

StanRun run_stan(const std::filesystem::path& directory, const Dataset& data, std::size_t draws,
                 std::uint64_t seed) {
  std::string rows;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    for (std::size_t j = 0; j < data.columns(); ++j) {
      rows += fmt::format("{},", data.row(i)[j]);
    }
    rows += fmt::format("{}\n", data.targets[i]);
  }
  write_file(directory / "stan-data.csv", rows);
  write_file(directory / "stan.R", kScript);
  if (run_r(directory, {"stan.R", fmt::format("{}", draws), fmt::format("{}", seed)}) != 0) {
    throw RunError(fmt::format("Stan failed: see {}", (directory / "stan.log").string()));
  }
  std::ifstream file(directory / "stan-result.json");
  const auto result = nlohmann::json::parse(file, nullptr, false);
  if (result.is_discarded()) throw RunError("Stan left no result");
  return {.mean = result.at("mean"),
          .sd = result.at("sd"),
          .bulk = result.at("bulk"),
          .warm_up_seconds = result.at("warm_up"),
          .draw_seconds = result.at("draws")};
}

}  // namespace windhover::reproduce
