#include "windhover/tools/daemon/start_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "windhover/tools/daemon/daemon_config.h"

namespace windhover {

namespace {

// Where one endpoint listens, as a client writes it.
std::string address_text(const ListenConfig& listen, std::uint16_t port) {
  std::string text;
  if (!listen.tcp_address.empty()) {
    const bool v6 = listen.tcp_address.find(':') != std::string_view::npos;
    text = fmt::format("{}{}{}:{}", v6 ? "[" : "", listen.tcp_address, v6 ? "]" : "", port);
  }
  if (!listen.unix_path.empty()) {
    text += fmt::format("{}unix:{}", text.empty() ? "" : ",", listen.unix_path);
  }
  return text;
}

// " http=ADDR", or nothing.
std::string http_text(const HttpConfig& http, const Server& server) {
  return http.enabled() ? " http=" + address_text(http.listen, server.http().port) : "";
}

// Rows that the folder holds of all models.
std::uint64_t kept_rows(const DurableConfig& durable, const Server& server) {
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < server.models().count(); ++i) {
    rows += durable.log ? server.kept().log(i).durable_head.load()
                        : server.kept().checkpoints(i).head.load();
  }
  return rows;
}

// " kept=FOLDER durability=logged recovered=N rows", or nothing.
std::string kept_text(const DurableConfig& durable, const Server& server) {
  if (!durable.enabled()) return "";
  return fmt::format(" kept={} durability={} recovered={} rows", durable.folder,
                     durable.log ? "logged" : "memory", kept_rows(durable, server));
}

// "horizon=window rows=...", or "models=3".
std::string served_text(const DaemonModels& models) {
  if (models.several()) return fmt::format("models={}", models.all().size());
  return horizon_text(*models.all().front().config);
}

}  // namespace

void warn(DaemonLog& log, std::string_view sentence) {
  constexpr std::size_t kMost = 160;
  while (!sentence.empty()) {
    std::size_t size = sentence.size();
    if (size > kMost) size = std::min(sentence.rfind(' ', kMost), kMost);
    log.write(log.line(LogLevel::kWarning, "warning").add("text", sentence.substr(0, size)));
    sentence.remove_prefix(std::min(size + 1, sentence.size()));
  }
}

void log_start(DaemonLog& log, const DaemonModels& models, const std::string& file,
               std::string_view version) {
  LogLine start = log.line(LogLevel::kInfo, "start");
  start.add("version", version).add("pid", ::getpid()).add("config", file);
  start.add("models", models.all().size());
  log.write(start.add("block_bytes", models.block_bytes()));
  for (const DaemonModels::Model& model : models.all()) {
    const EngineConfig engine = with_defaults(model.config->engine());
    LogLine line = log.line(LogLevel::kInfo, "configuration");
    line.add("model", model.name).add("likelihood", engine.model.name);
    line.add("features", engine.model.features).add("horizon", to_string(engine.horizon));
    line.add("window_size", engine.window_size).add("sampler", engine.sampler.name);
    if (!model.follows.empty()) line.add("follows", model.follows);
    log.write(line.add("engine_bytes", model.config->engine_bytes()));
  }
}

void log_ready(DaemonLog& log, const ServerConfig& config, const Server& server) {
  LogLine line = log.line(LogLevel::kInfo, "ready");
  line.add("observe", address_text(config.observe, server.observe().port));
  line.add("query", address_text(config.query, server.query().port));
  if (config.http.enabled()) {
    line.add("http", address_text(config.http.listen, server.http().port));
  }
  if (config.durable.enabled()) line.add("kept_rows", kept_rows(config.durable, server));
  log.write(line);
}

std::string ready_line(const DaemonModels& models, const ServerConfig& config,
                       const Server& server) {
  return fmt::format("ready observe={} query={}{} block={} bytes{} {}\n",
                     address_text(config.observe, server.observe().port),
                     address_text(config.query, server.query().port),
                     http_text(config.http, server), models.block_bytes(),
                     kept_text(config.durable, server), served_text(models));
}

}  // namespace windhover
