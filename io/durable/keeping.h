// What a server keeps on disk of each of its models.
#ifndef WINDHOVER_IO_DURABLE_KEEPING_H_
#define WINDHOVER_IO_DURABLE_KEEPING_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "windhover/io/durable/durable_config.h"
#include "windhover/io/durable/persistence.h"
#include "windhover/io/endpoint.h"
#include "windhover/io/server_layout.h"

namespace windhover {

struct HostedModel;

// A Persistence for each model that follows no other, each in a folder of its own: the configured
// one where the host has named no model, otherwise the one of the model's name in it.
class Keeping final : public EndpointDuties {
 public:
  // All outlive it. REQUIRES: config.enabled(). Allocates.
  Keeping(const DurableConfig& config, std::span<const HostedModel> models, ServerLayout& layout,
          Endpoint& observe);

  // As Persistence::open(), of one model after the other. On success conversations know where
  // their frames go, and the endpoint what else it has to do.
  Result<bool> open();
  // As Persistence::start(), stop().
  Status start() noexcept;
  void stop() noexcept;

  // Null: nobody keeps it, because it follows another.
  Persistence* of(std::size_t model) noexcept { return kept_[model].get(); }

  // The observe thread's.
  bool go_on() noexcept override;
  void on_wake() noexcept override;

 private:
  Result<bool> make_parent();

  const DurableConfig config_;
  const std::string folder_;
  const bool named_;
  ServerLayout& layout_;
  Endpoint& observe_;
  std::vector<std::unique_ptr<Persistence>> kept_;  // one a model; null: nobody keeps it
  std::string sentence_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_KEEPING_H_
