// Where DaemonConfig stores the values of its options; for its sources only.
#ifndef WINDHOVER_TOOLS_DAEMON_DAEMON_VALUES_H_
#define WINDHOVER_TOOLS_DAEMON_DAEMON_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "windhover/io/server.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/daemon/daemon_config.h"
#include "windhover/tools/daemon/data_options.h"
#include "windhover/tools/daemon/process_options.h"
#include "windhover/tools/data/schema.h"
#include "windhover/tools/kept/kept_needs.h"

namespace windhover {

struct DaemonConfig::Values {
  Values() {
    engine.score_predictions = true;
    engine.window_slack = 0;
    engine.max_frame_rows = 0;
    server.max_producers = 0;
    engine.max_readers = 0;
  }

  EngineConfig engine;               // window_slack, max_frame_rows, max_readers: 0 is chosen
  std::optional<Horizon> horizon;    // none: chosen
  std::optional<KeptNeeds> kept;     // what the data folder's contents need
  std::uint64_t kept_producers = 0;  // the most of one model
  ServerConfig server;               // max_producers: 0 is chosen
  std::string schema;
  std::string schema_json;  // to_json_text() of the schema
  std::string model = "auto";
  TargetRule target;  // of the schema
  std::string sampler = "calibrated";
  bool silence_is_no_outcome = true;  // labels.timeout_outcome = "none"
  std::vector<double> feature_shift;
  std::vector<double> feature_scale;
  std::vector<MissingFeature> missing_features;  // of the schema
  enum class PriorGroups : std::uint8_t { kOne, kFeatures, kFields };
  PriorGroups prior_groups = PriorGroups::kOne;
  std::vector<std::uint32_t> prior_group;  // of each feature
  struct Listen {
    std::string tcp_address = "127.0.0.1";
    std::string unix_path;
  };
  Listen observe, query;
  Listen http{.tcp_address = "", .unix_path = ""};
  std::string identities_file;
  struct {
    std::string certificate, key, client_ca;
    std::size_t memory_bytes = 0;
  } tls;
  DataOptions data;
  ProcessOptions process;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_DAEMON_VALUES_H_
