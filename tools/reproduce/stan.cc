#include "windhover/tools/reproduce/stan.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "windhover/tools/error.h"
#include "windhover/tools/reproduce/files.h"

namespace windhover::reproduce {
namespace {

constexpr const char* kModel = R"STAN(data {
  int N;
  int D;
  matrix[N, D] x;
  int<lower=0, upper=1> y[N];
}
parameters {
  vector[D] theta;
}
model {
  theta ~ normal(0, 1);
  y ~ bernoulli_logit_glm(x, 0, theta);
}
)STAN";

// Debian's Boost is outside R's library. Chains are forked, as rstan's own way through sockets may
// wait for minutes.
constexpr const char* kScript = R"R(suppressMessages(library(rstan))
if (!nzchar(system.file("include", package = "BH"))) rstan_options(boost_lib = "/usr/include")
rstan_options(auto_write = TRUE)
arguments <- as.integer(commandArgs(trailingOnly = TRUE))
table <- as.matrix(read.csv("stan-data.csv", header = FALSE))
d <- ncol(table) - 1
rows <- list(N = nrow(table), D = d, x = table[, 1:d], y = as.integer(table[, d + 1]))
model <- stan_model("logistic.stan")
fit <- sflist2stanfit(parallel::mclapply(seq_len(arguments[1]), function(chain)
  sampling(model, data = rows, chains = 1, chain_id = chain, refresh = 0, seed = arguments[3],
           warmup = 1000, iter = 1000 + arguments[2]), mc.cores = arguments[4]))
draws <- as.array(fit, pars = "theta")  # draw, chain, parameter
writeBin(as.vector(aperm(draws, c(3, 1, 2))), "stan-draws.bin")
listed <- function(x) paste0("[", paste(format(x, digits = 12), collapse = ","), "]")
seconds <- colSums(get_elapsed_time(fit))
cat(sprintf('{"r_hat":%s,"bulk":%s,"divergences":%d,"warm_up":%g,"draws":%g}\n',
            listed(apply(draws, 3, Rhat)), listed(apply(draws, 3, ess_bulk)),
            get_num_divergent(fit), seconds["warmup"], seconds["sample"]),
    file = "stan-result.json")
)R";

std::vector<std::vector<std::vector<double>>> read_draws(const std::filesystem::path& path,
                                                         const StanOptions& options,
                                                         std::size_t dimension) {
  std::vector<std::vector<std::vector<double>>> chains(options.chains);
  std::ifstream file(path, std::ios::binary);
  for (auto& chain : chains) {
    chain.assign(options.draws, std::vector<double>(dimension));
    for (std::vector<double>& draw : chain) {
      // Doubles in the byte order of this machine, on which R wrote them.
      file.read(reinterpret_cast<char*>(draw.data()),
                static_cast<std::streamsize>(dimension * sizeof(double)));
    }
  }
  if (!file) throw RunError("Stan left fewer draws than it was asked for");
  return chains;
}

}  // namespace

bool has_stan() {
  const auto directory = std::filesystem::temp_directory_path();
  constexpr const char* kLook = "quit(status = !requireNamespace('rstan', quietly = TRUE))";
  return run_program_in(directory, {"Rscript", "-e", kLook}, "/dev/null") == 0;
}

StanRun run_stan(const std::filesystem::path& directory, const Dataset& data,
                 const StanOptions& options) {
  std::string rows;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    for (std::size_t j = 0; j < data.columns(); ++j) {
      rows += fmt::format("{},", data.row(i)[j]);
    }
    rows += fmt::format("{}\n", data.targets[i]);
  }
  write_file(directory / "stan-data.csv", rows);
  write_file(directory / "logistic.stan", kModel);
  write_file(directory / "stan.R", kScript);
  std::filesystem::remove(directory / "stan-result.json");
  std::vector<std::string> arguments = {"Rscript", "stan.R"};
  for (const std::uint64_t number : {std::uint64_t{options.chains}, std::uint64_t{options.draws},
                                     options.seed, std::uint64_t{options.threads}}) {
    arguments.push_back(fmt::format("{}", number));
  }
  if (run_program_in(directory, arguments, "stan.log") != 0) {
    throw RunError(fmt::format("Stan failed: see {}", (directory / "stan.log").string()));
  }
  const auto result = read_json(directory / "stan-result.json");
  if (result.is_null()) throw RunError("Stan left no result");
  return {.draws = read_draws(directory / "stan-draws.bin", options, data.columns()),
          .r_hat = result.at("r_hat"),
          .bulk = result.at("bulk"),
          .divergences = result.at("divergences"),
          .warm_up_seconds = result.at("warm_up"),
          .draw_seconds = result.at("draws")};
}

}  // namespace windhover::reproduce
