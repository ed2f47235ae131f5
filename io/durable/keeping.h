// What a server keeps on disk of each of its models.
#ifndef WINDHOVER_IO_DURABLE_KEEPING_H_
#define WINDHOVER_IO_DURABLE_KEEPING_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/durable/durable_config.h"
#include "windhover/io/durable/persistence.h"
#include "windhover/io/endpoint.h"
#include "windhover/io/server_layout.h"

namespace windhover {

struct HostedModel;

// A Persistence for each model that follows no other, each in a folder of its own: the configured
// one where the host has named no model, otherwise the one of the model's name in it.
// Invariant: those that the observe thread works for are alive; it is told before one is dropped.
class Keeping final : public EndpointDuties {
 public:
  // All outlive it. REQUIRES: config.enabled(). Allocates.
  Keeping(const DurableConfig& config, std::span<const HostedModel> models, ServerLayout& layout,
          Endpoint& observe);

  // As Persistence::open(), of one model after the other. On success conversations know where
  // their frames go, and the endpoint what else it has to do.
  Result<bool> open();
  // As Persistence::start(), stop(). Started a second time, it goes on as it is.
  Status start() noexcept;
  void stop() noexcept;

  // Null: nobody keeps it, because it follows another.
  Persistence* of(std::size_t model) noexcept { return kept_[model].get(); }

  // One model more, which has a store and an engine: opened and started, all others before it, and
  // `entry`, which the observe endpoint is to be given, says who keeps it. In an error the sentence
  // lives until the next call. Allocates.
  Result<bool> add(std::size_t place, PlaceChange& entry);
  // REQUIRES: the observe endpoint has let go of it. Stops it, if it is at work.
  void drop(std::size_t place) noexcept { kept_[place].reset(); }
  // Whether the folder of a model of this name would be, or come to be, a file of the only one that
  // has no name, and so lies in the data folder itself.
  bool has_file(std::string_view name) const noexcept;
  // The folder's view lives as long as this.
  DurableConfig config() const noexcept;

  // The observe thread's.
  bool go_on() noexcept override;
  void on_wake() noexcept override;
  void on_keeper(std::size_t place, Persistence* keeper) noexcept override {
    at_work_[place] = keeper;
  }

 private:
  Result<bool> make_parent();
  void make(std::size_t place, bool named);
  Result<bool> open(std::size_t place);

  const DurableConfig config_;
  const std::string folder_;
  const bool named_;
  bool started_ = false;
  ServerLayout& layout_;
  Endpoint& observe_;
  std::vector<std::unique_ptr<Persistence>> kept_;  // one a place; null: nobody keeps it
  std::vector<Persistence*> at_work_;               // likewise; the observe thread's
  std::string sentence_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_KEEPING_H_
