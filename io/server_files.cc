#include "windhover/io/server_files.h"

#include "windhover/io/access/access.h"
#include "windhover/io/server.h"
#include "windhover/io/tls/tls_context.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/memory.h"

namespace windhover {

std::string wrong_with_files(const ServerConfig& config, std::span<const std::string_view> models) {
  if (config.tls.enabled()) {
    TlsContext tls;
    TlsSettings settings;
    if (const Result<bool> read = tls.read(config.tls, settings); !read.ok()) {
      return read.error().sentence;
    }
  }
  if (config.identities_file.empty()) return "";
  Arena measuring = Arena::measuring();
  (void)Access(measuring, config.max_identities, models.size());
  const MappedBlock block(measuring.used());
  if (!block.valid()) return "no memory for max_identities";
  Arena arena(block.bytes());
  Access access(arena, config.max_identities, models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    access.set_model(i, models[i].empty() ? kOnlyModel : models[i]);
  }
  if (config.added.enabled()) access.allow_later_models();
  const std::string path(config.identities_file);
  Access::Sentence sentence;
  const Result<std::size_t> loaded = access.load(path, sentence);
  return loaded.ok() ? "" : loaded.error().sentence;
}

TlsDates certificate_dates(const ServerConfig& config) {
  if (!config.tls.enabled()) return {};
  TlsContext tls;
  TlsSettings settings;
  return tls.read(config.tls, settings).ok() ? settings.dates() : TlsDates{};
}

}  // namespace windhover
