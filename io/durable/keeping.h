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

// Has a Persistence for each model that follows no other, each in a folder of its own: in the
// configured folder itself where the host has named no model, otherwise in a folder of the model's
// name inside it. Invariant: the observe thread works only for those that are alive; it lets go of
// one before that is dropped.
class Keeping final : public EndpointDuties {
 public:
  // All outlive it. REQUIRES: config.enabled(). Allocates.
  Keeping(const DurableConfig& config, std::span<const HostedModel> models, ServerLayout& layout,
          Endpoint& observe);

  // Calls Persistence::open() for one model after the other. On success conversations have their
  // feeds, and the observe endpoint its duties.
  Result<bool> open();
  // As Persistence::start() and stop(). A second start() has no effect.
  Status start() noexcept;
  void stop() noexcept;

  // Null: the model is not kept, because it follows another.
  Persistence* of(std::size_t model) noexcept { return kept_[model].get(); }

  // Opens and starts the Persistence of a model that has a store and an engine, after having
  // started the others. `entry`, for the observe endpoint, gets feed and keeper. The sentence of an
  // error lives until the next call. Allocates.
  Result<bool> add(std::size_t place, PlaceChange& entry);
  // Stops and drops the Persistence of a model. REQUIRES: the observe endpoint has let go of it.
  void drop(std::size_t place) noexcept { kept_[place].reset(); }
  // Whether a folder of this name would collide with a file of the server's only model, which has
  // no name and so lies in the data folder itself.
  bool has_file(std::string_view name) const noexcept;
  // The configuration with its folder; the view lives as long as this.
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
  std::vector<std::unique_ptr<Persistence>> kept_;  // one a place; null: not kept
  std::vector<Persistence*> at_work_;               // likewise; the observe thread's
  std::string sentence_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_KEEPING_H_
