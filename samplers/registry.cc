#include "windhover/samplers/registry.h"

#include <array>

#include "windhover/samplers/constant_rate/calibrated.h"
#include "windhover/samplers/constant_rate/constant_sgd.h"
#include "windhover/samplers/constant_rate/iterate_averaging.h"
#include "windhover/samplers/constant_rate/momentum.h"
#include "windhover/samplers/constant_rate/noise_completion.h"
#include "windhover/samplers/constant_rate/reverse_kl_sgd.h"
#include "windhover/samplers/constant_rate/sandwich.h"
#include "windhover/samplers/constant_rate/square_root_sgd.h"
#include "windhover/samplers/fisher_scoring/block_fisher_scoring.h"
#include "windhover/samplers/fisher_scoring/fisher_scoring.h"
#include "windhover/samplers/fisher_scoring/low_rank_fisher_scoring.h"
#include "windhover/samplers/langevin/control_variate_sgld.h"
#include "windhover/samplers/langevin/cyclical_sgld.h"
#include "windhover/samplers/langevin/modified_sgld.h"
#include "windhover/samplers/langevin/preconditioned_sgld.h"
#include "windhover/samplers/langevin/riemannian_sgld.h"
#include "windhover/samplers/langevin/rmsprop_sgld.h"
#include "windhover/samplers/langevin/sgld.h"
#include "windhover/samplers/models/generalized_linear.h"
#include "windhover/samplers/models/heteroscedastic.h"
#include "windhover/samplers/models/negative_binomial.h"
#include "windhover/samplers/models/network.h"
#include "windhover/samplers/models/softmax.h"
#include "windhover/samplers/models/zero_inflated_poisson.h"
#include "windhover/samplers/sampler_entry.h"
#include "windhover/samplers/thermostats/hamiltonian.h"
#include "windhover/samplers/thermostats/nose_hoover.h"
#include "windhover/samplers/thermostats/santa.h"

namespace windhover {

namespace {

// Fills in blocks of one coefficient a column, the intercept's last.
void block_precision(const ModelConfig& config, double* precision) noexcept {
  const ModelConfig full = config.with_prior();
  const std::uint32_t columns = full.columns();
  for (std::uint32_t j = 0; j < full.dimension(); ++j) {
    const bool intercept = full.intercept && j % columns == full.features;
    precision[j] = intercept ? full.intercept_precision : full.prior_precision;
  }
}

ParameterLayout block_layout(const ModelConfig& config) noexcept {
  const std::uint32_t columns = config.columns();
  return {config.dimension(), config.dimension() / columns, columns, config.intercept, 0};
}

ParameterLayout heteroscedastic_layout(const ModelConfig& config) noexcept {
  ParameterLayout layout = block_layout(config);
  layout.first_of_target = config.columns();
  layout.log_variance = true;
  return layout;
}

ParameterLayout network_layout(const NetworkShape& shape) noexcept {
  const NetworkShape::Unit hidden = shape.unit(1, 0);
  const std::size_t next = shape.width[1] > 1 ? shape.unit(1, 1).first : shape.unit(2, 0).first;
  return {shape.dimension(), shape.width[1], static_cast<std::uint32_t>(next - hidden.first), true,
          static_cast<std::uint32_t>(shape.unit(shape.layers, 0).first)};
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
          false,
          [](const ModelConfig& config) noexcept { return config.columns(); },
          block_precision,
          block_layout,
          make_model<M>,
          reset_model<M>};
}

// An entry for one head. The name is a template argument because the factory is a plain function.
template <const std::string_view& kName, Response kHead>
constexpr ModelEntry network_entry(std::string_view likelihood, std::string_view source) {
  return {
      kName,
      likelihood,
      "S D; curvature S D (D + 2 units) with many classes, else S D^2 C",
      "128 D + 128 C units",
      source,
      kHead,
      true,
      [](const ModelConfig& config) noexcept { return NetworkShape(config, kHead).dimension(); },
      [](const ModelConfig& config, double* precision) noexcept {
        NetworkShape(config, kHead).prior_precision(config.with_prior(), precision);
      },
      [](const ModelConfig& config) noexcept {
        return network_layout(NetworkShape(config, kHead));
      },
      [](Arena& arena, const ModelConfig& config) noexcept {
        return static_cast<Model*>(arena.make<NetworkModel>(arena, config, kName, kHead));
      },
      reset_model<NetworkModel>};
}

constexpr std::string_view kBackPropagation = "Rumelhart et al. 1986; curvature Schraudolph 2002";
constexpr std::string_view kBoltzmannMachine = NetworkShape::kBoltzmannName;
constexpr std::string_view kNetworkLinear = "mlp-linear";
constexpr std::string_view kNetworkLogistic = "mlp-logistic";
constexpr std::string_view kNetworkSoftmax = "mlp-softmax";

constexpr std::array kSamplers = {
    sampler_entry<Calibrated>("posterior, exact in discrete time", "S D + 2 D^2", "4 D^2 + 7 D",
                              "Mandt et al. 2017, Theorem 2, in discrete time with injected noise"),
    sampler_entry<ScalarConstantSgd>("posterior, best scalar rate", "S D + D", "6 D",
                                     "Mandt et al. 2017, Theorem 1, eq. 15"),
    sampler_entry<DiagonalConstantSgd>("posterior, diagonal rates", "S D + D", "6 D",
                                       "Mandt et al. 2017, Corollary 3"),
    sampler_entry<FullConstantSgd>("posterior, continuous time", "S D + D^2", "4 D^2 + 7 D",
                                   "Mandt et al. 2017, Theorem 2"),
    sampler_entry<DiagonalFisherScoring>("posterior, diagonal rates and noise", "S D + 2 D", "6 D",
                                         "Ahn et al. 2012, Algorithm 1, diagonal"),
    sampler_entry<FullFisherScoring>("posterior, exact when A = C", "S D + 2 D^2", "4 D^2 + 7 D",
                                     "Ahn et al. 2012, Algorithm 1"),
    sampler_entry<Sgld>("posterior as the step goes to 0", "S D + D", "4 D",
                        "Welling and Teh 2011, eq. 4"),
    sampler_entry<PreconditionedSgld>("posterior as the step goes to 0", "S D + 2 D^2",
                                      "4 D^2 + 7 D", "Ahn et al. 2012, eq. 1"),
    sampler_entry<ModifiedSgld>("posterior as the step goes to 0, minibatch noise taken off",
                                "S D + 2 D^2", "4 D^2 + 7 D", "Vollmer et al. 2016, mSGLD"),
    sampler_entry<RmspropSgld>("posterior, biased by an adaptive preconditioner", "S D + 2 D",
                               "6 D", "Li et al. 2016, Algorithm 1"),
    sampler_entry<RiemannianSgld>("posterior as the step goes to 0", "S D + 2 D^2", "2 D^2 + 4 D",
                                  "Patterson and Teh 2013; Ma et al. 2015, Theorem 1"),
    sampler_entry<CyclicalSgld>("posterior with several modes", "S D + D", "4 D",
                                "Zhang et al. 2020, Algorithm 1"),
    sampler_entry<ControlVariateSgld>("posterior as the step goes to 0", "2 S D + 2 D", "6 D",
                                      "Baker et al. 2019, section 2.2; Dubey et al. 2016"),
    sampler_entry<Hamiltonian>("posterior as the step goes to 0, second order", "S D + 2 D^2",
                               "4 D^2 + 7 D", "Chen et al. 2014, eq. 15"),
    sampler_entry<ScalarNoseHoover>("posterior, noise of one strength absorbed", "S D + 2 D", "6 D",
                                    "Ding et al. 2014, eq. 6"),
    sampler_entry<DiagonalNoseHoover>("posterior, noise absorbed by parameter", "S D + 2 D", "6 D",
                                      "Chen et al. 2016, section 2"),
    sampler_entry<SymmetricSanta>("annealed posterior, then its mode", "S D + 6 D", "6 D",
                                  "Chen et al. 2016, Algorithm 2"),
    sampler_entry<EulerSanta>("annealed posterior, then its mode", "S D + 5 D", "6 D",
                              "Chen et al. 2016, Algorithm 1"),
    sampler_entry<RefiningSanta>("mode", "S D + 4 D", "6 D", "Chen et al. 2016, section 5.2"),
    sampler_entry<SquareRootSgd>("posterior, best rate of its shape", "S D + D", "6 D",
                                 "Mandt et al. 2017, Theorem 7, eq. 47"),
    sampler_entry<ReverseKlSgd>("posterior, best scalar rate for the reverse KL", "S D + D",
                                "1 D^2 + 8 D", "Mandt et al. 2017, Appendix C, eq. 41"),
    sampler_entry<Sandwich>("sandwich, exact in discrete time", "S D + 2 D^2", "4 D^2 + 7 D",
                            "Mandt et al. 2017, Theorem 2, in discrete time for A^-1 C A^-1"),
    sampler_entry<ScalarNoiseCompletion>("posterior, exact at a scalar rate", "S D + D^2",
                                         "3 D^2 + 7 D",
                                         "Ma et al. 2015, in discrete time for a linear gradient"),
    sampler_entry<DiagonalNoiseCompletion>(
        "posterior, exact at diagonal rates", "S D + D^2", "3 D^2 + 7 D",
        "Ma et al. 2015, in discrete time for a linear gradient"),
    sampler_entry<ScalarFisherScoring>("posterior, one rate and noise", "S D + 2 D", "6 D",
                                       "Ahn et al. 2012, Algorithm 1, scalar"),
    sampler_entry<BlockFisherScoring>("posterior, rates and noise in blocks", "S D + 2 D b",
                                      "4 D + 2 D b", "Ahn et al. 2012, section 4"),
    sampler_entry<LowRankFisherScoring>(
        "posterior, exact when A + (n/S) C has rank r beside a diagonal", "S D + 4 D r",
        "2 D^2 + 10 D + 5 D r", "Ahn et al. 2012, Algorithm 1; Rubin and Thayer 1982"),
    sampler_entry<Momentum>("posterior, exact in discrete time", "S D + 2 D^2", "4 D^2 + 7 D",
                            "Mandt et al. 2017, section 4.3, in discrete time"),
    sampler_entry<IterateAveraging>("posterior, where A = C and n / S is large", "S D + D", "4 D",
                                    "Mandt et al. 2017, Algorithm 1"),
};

constexpr std::array kModels = {
    generalized_linear_entry<GaussianLikelihood>("y ~ normal(x theta, sigma)",
                                                 "Mandt et al. 2017, section 6.1"),
    generalized_linear_entry<BernoulliLogitLikelihood>("y ~ bernoulli_logit(x theta)",
                                                       "Mandt et al. 2017, section 6.1"),
    generalized_linear_entry<BinomialLogitLikelihood>("y ~ binomial_logit(n, x theta)",
                                                      "McCullagh and Nelder 1989, chapter 4"),
    generalized_linear_entry<PoissonLikelihood>("y ~ poisson_log(x theta)",
                                                "McCullagh and Nelder 1989, chapter 6"),
    generalized_linear_entry<NegativeBinomialLikelihood>(
        "y ~ neg_binomial_2_log(x theta, 1 / alpha)", "Cameron and Trivedi 2013, section 3.3"),
    generalized_linear_entry<ZeroInflatedPoissonLikelihood>(
        "y is 0 with probability pi, otherwise y ~ poisson_log(x theta)", "Lambert 1992"),
    generalized_linear_entry<LogNormalLikelihood>("y ~ lognormal(x theta, sigma)",
                                                  "Aitchison and Brown 1957"),
    generalized_linear_entry<StudentLikelihood>("y ~ student_t(nu, x theta, sigma)",
                                                "Lange, Little and Taylor 1989, appendix B"),
    ModelEntry{HeteroscedasticModel::kName, "y ~ normal(x beta, exp(x gamma / 2))",
               "S F; curvature S D^2 / 2", "F^2 + 256 F", "Harvey 1976",
               HeteroscedasticModel::kResponse, false, HeteroscedasticModel::dimension,
               block_precision, heteroscedastic_layout, make_model<HeteroscedasticModel>,
               reset_model<HeteroscedasticModel>},
    ModelEntry{SoftmaxModel::kName, "y ~ categorical_logit(x theta)", "S F C; curvature S D^2 / 2",
               "256 F + 64 C^2", "Bishop 2006, section 4.3.4", SoftmaxModel::kResponse, false,
               SoftmaxModel::dimension, block_precision, block_layout, make_model<SoftmaxModel>,
               reset_model<SoftmaxModel>},
    network_entry<kNetworkLinear, Response::kGaussian>("y ~ normal(f(x; theta), sigma)",
                                                       kBackPropagation),
    network_entry<kNetworkLogistic, Response::kBernoulli>("y ~ bernoulli_logit(f(x; theta))",
                                                          kBackPropagation),
    network_entry<kNetworkSoftmax, Response::kCategorical>("y ~ categorical_logit(f(x; theta))",
                                                           kBackPropagation),
    network_entry<kBoltzmannMachine, Response::kCategorical>("y ~ drbm(x; theta)",
                                                             "Ahn et al. 2012, section 5.3"),
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

ModelConfig ModelConfig::with_prior() const noexcept {
  constexpr double kWeak = 1 / (2.5 * 2.5);
  const ModelEntry* entry = find_model(name);
  const bool network = entry != nullptr && entry->network;
  ModelConfig full = *this;
  if (default_prior()) full.prior_precision = network ? 1.0 : kWeak;
  if (intercept_precision == 0)
    full.intercept_precision = default_prior() && !network ? kWeak : 0.1;
  return full;
}

bool ModelConfig::has_trials() const noexcept {
  const ModelEntry* entry = find_model(name);
  return entry != nullptr && entry->response == Response::kBinomial;
}

std::uint32_t ModelConfig::dimension() const noexcept {
  const ModelEntry* entry = find_model(name);
  return entry != nullptr ? entry->dimension(*this) : columns();
}

}  // namespace windhover
