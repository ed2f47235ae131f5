// The configuration of windhoverd: a TOML file and flags, from one list of options.
//
//   [model]    features = 10          ->  --model.features 10
//   [engine]   window_size = 100000   ->  --engine.window_size 100000
//   [server.observe] tcp_port = 7171  ->  --server.observe.tcp_port 7171
//   [models]   price = "price.toml"   :  one of several models, see daemon_models.h
//
// windhoverd --print-config lists every option with its value.
#ifndef WINDHOVER_TOOLS_DAEMON_DAEMON_CONFIG_H_
#define WINDHOVER_TOOLS_DAEMON_DAEMON_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/server_config.h"
#include "windhover/runtime/config.h"
#include "windhover/tools/daemon/daemon_options.h"
#include "windhover/tools/daemon/process_options.h"

namespace windhover {

// Owns the text behind the string views of EngineConfig and ServerConfig. Neither copyable nor
// movable: the options refer to it. All errors are UserError: one sentence naming the option, its
// value, and what is allowed. Where a file is to blame, its place comes before, as compilers write
// it: "FILE:LINE:COLUMN: sentence".
class DaemonConfig {
 public:
  // One line of the table [models]: a name, and the file that says what the model has of its own.
  struct ModelFile {
    std::string name;
    std::string path;     // relative to the file that names it, or absolute
    std::string follows;  // the model whose rows it learns from; empty: senders' rows
    std::string source;   // FILE:LINE:COLUMN
  };

  DaemonConfig();
  ~DaemonConfig();
  DaemonConfig(const DaemonConfig&) = delete;
  DaemonConfig& operator=(const DaemonConfig&) = delete;

  const std::vector<DaemonOption>& options() const { return options_; }

  // Unknown keys are refused.
  void read_file(const std::string& path);
  void read_toml(std::string_view text, const std::string& path);
  // The same for the tables that a model has of its own where there are several: model, sampler,
  // engine and labels.
  void read_model_file(const std::string& path);
  void read_model_toml(std::string_view text, const std::string& path);
  // Copies all options of `other`, with their sources. REQUIRES: `other` is not checked yet.
  void begin_as(const DaemonConfig& other);
  // The engine gets room to follow another, or for one more that follows it.
  void set_follows() { follows_ = true; }
  void add_follower() { ++followers_; }
  // The engine is to go on with what data.folder holds of this model; "": of the only one. Where no
  // horizon is given and the folder holds a window's state, the horizon is that window. Where no
  // window_slack is given, it has room for the rows that wait in the folder.
  void go_on_with_kept(std::string_view model);
  // Where no max_producers is given, the server gets room for the producers that each of these
  // models knows. A log is read only where its checkpoint knows more than half as many as there
  // would be room for.
  void make_room_for_producers(const std::vector<std::string>& models);
  const std::string& data_folder() const;
  // The models in the order of the file; a Hello without a name means the first.
  const std::vector<ModelFile>& model_files() const { return model_files_; }
  // Sets one option from its text; a refusal begins with `source` ("--model.features").
  void set(std::string_view name, std::string_view text, const std::string& source);

  // Takes the number, form and meaning of features from the schema where one is named; then judges
  // everything as the engine and the server will. A refusal begins with the source of the option,
  // also of one that is wrong only beside another.
  void check();

  // Valid while this lives. Call check() first.
  EngineConfig engine() const;
  // Whether no horizon is given.
  bool chooses_horizon() const;
  ServerConfig server() const;
  // What the schema says of the columns (data/schema_json.h); empty without one.
  std::string_view schema_json() const;
  std::size_t engine_bytes() const;

  const ProcessOptions& process() const;
  // ProcessOptions::use_real_time_profile().
  void use_real_time_profile();

  // TOML that read_toml() reads back to the same configuration; without the tables of a model's own
  // where `with_models_own` is false.
  std::string to_toml(bool with_models_own = true) const;

 private:
  struct Values;
  enum class Allowed : std::uint8_t { kAll, kModelsOwn };
  void read(const std::string& path, Allowed allowed);
  void read(std::string_view text, const std::string& path, Allowed allowed);
  void describe_options();
  void judge();
  std::string folder_of(std::string_view model) const;
  // The source of the first option that the sentence names and that was given; empty: none.
  std::string source_of(std::string_view sentence) const;
  std::unique_ptr<Values> values_;
  std::vector<DaemonOption> options_;
  std::vector<ModelFile> model_files_;
  bool follows_ = false;
  std::uint32_t followers_ = 0;
  std::map<std::string, std::string> sources_;  // of the options that were given
};

// Which rows the posterior is of, for the line "ready": "horizon=window rows=100000: ...", with "
// (chosen)" where no horizon was given.
std::string horizon_text(const DaemonConfig& config);

[[noreturn]] void refuse(const Error& error);

// The value, or UserError with the sentence and number of the error.
template <class T>
T value_or_refuse(Result<T> result) {
  if (!result.ok()) refuse(result.error());
  return std::move(result).value();
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_DAEMON_CONFIG_H_
