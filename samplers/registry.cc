#include "windhover/samplers/registry.h"

#include <array>

#include "windhover/samplers/calibrated.h"
#include "windhover/samplers/constant_sgd.h"
#include "windhover/samplers/fisher_scoring.h"
#include "windhover/samplers/models/generalized_linear.h"
#include "windhover/samplers/models/softmax.h"
#include "windhover/samplers/sampler_entry.h"

namespace windhover {

namespace {

// Blocks of one coefficient a column, the intercept's last.
void block_precision(const ModelConfig& config, double* precision) noexcept {
  const std::uint32_t columns = config.columns();
  for (std::uint32_t j = 0; j < config.dimension(); ++j) {
    const bool intercept = config.intercept && j % columns == config.features;
    precision[j] = intercept ? config.intercept_precision : config.prior_precision;
  }
}

template <class M>
Model* make_model(Arena& arena, const ModelConfig& config) noexcept {
  return arena.make<M>(arena, config);
}
template <class M>
void reset_model(Model& model) noexcept {
  static_cast<M&>(model).reset();
}

template <class Likelihood>
constexpr ModelEntry generalized_linear_entry(std::string_view likelihood,
                                              std::string_view source) {
  using M = GeneralizedLinearModel<Likelihood>;
  return {Likelihood::kName,
          likelihood,
          "S F; curvature S D^2",
          "256 D",
          source,
          Likelihood::kResponse,
          [](const ModelConfig& config) noexcept { return config.columns(); },
          block_precision,
          make_model<M>,
          reset_model<M>};
}

constexpr std::array kSamplers = {
    sampler_entry<Calibrated>("posterior, exact in discrete time", "S D + 2 D^2", "4 D^2",
                              "Mandt et al. 2017, Theorem 2, in discrete time with injected noise"),
    sampler_entry<ScalarConstantSgd>("posterior, best scalar rate", "S D + D", "4 D",
                                     "Mandt et al. 2017, Theorem 1, eq. 15"),
    sampler_entry<DiagonalConstantSgd>("posterior, diagonal rates", "S D + D", "4 D",
                                       "Mandt et al. 2017, Corollary 3"),
    sampler_entry<FullConstantSgd>("posterior, continuous time", "S D + D^2", "4 D^2",
                                   "Mandt et al. 2017, Theorem 2"),
    sampler_entry<DiagonalFisherScoring>("posterior, diagonal rates and noise", "S D + 2 D", "4 D",
                                         "Ahn et al. 2012, Algorithm 1, diagonal"),
    sampler_entry<FullFisherScoring>("posterior, exact when A = C", "S D + 2 D^2", "4 D^2",
                                     "Ahn et al. 2012, Algorithm 1"),
};

constexpr std::array kModels = {
    generalized_linear_entry<GaussianLikelihood>("y ~ normal(x theta, sigma)",
                                                 "Mandt et al. 2017, section 6.1"),
    generalized_linear_entry<BernoulliLogitLikelihood>("y ~ bernoulli_logit(x theta)",
                                                       "Mandt et al. 2017, section 6.1"),
    generalized_linear_entry<PoissonLikelihood>("y ~ poisson_log(x theta)",
                                                "McCullagh and Nelder 1989, chapter 6"),
    generalized_linear_entry<StudentLikelihood>("y ~ student_t(nu, x theta, sigma)",
                                                "Lange, Little and Taylor 1989, appendix B"),
    ModelEntry{SoftmaxModel::kName, "y ~ categorical_logit(x theta)", "S F C; curvature S D^2 / 2",
               "256 F + 64 C^2", "Bishop 2006, section 4.3.4", SoftmaxModel::kResponse,
               SoftmaxModel::dimension, block_precision, make_model<SoftmaxModel>,
               reset_model<SoftmaxModel>},
};

template <class Table>
auto find(const Table& table, std::string_view name) noexcept {
  for (const auto& entry : table) {
    if (entry.name == name) return &entry;
  }
  return static_cast<decltype(table.data())>(nullptr);
}

}  // namespace

std::span<const SamplerEntry> sampler_registry() noexcept { return kSamplers; }
std::span<const ModelEntry> model_registry() noexcept { return kModels; }
const SamplerEntry* find_sampler(std::string_view name) noexcept { return find(kSamplers, name); }
const ModelEntry* find_model(std::string_view name) noexcept { return find(kModels, name); }

std::uint32_t ModelConfig::dimension() const noexcept {
  const ModelEntry* entry = find_model(name);
  return entry != nullptr ? entry->dimension(*this) : columns();
}

}  // namespace windhover
