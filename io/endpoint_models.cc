// Adds models to an endpoint at work and removes them.
#include "windhover/io/endpoint.h"

namespace windhover {

void Endpoint::change(const PlaceChange& entry) noexcept {
  changes_.give(
      entry, [this] { wake(); }, [this](const PlaceChange& given) { change_here(given); });
}

void Endpoint::change_here(const PlaceChange& entry) noexcept {
  if (entry.model == nullptr) {
    for (Session& session : memory_.sessions) session.leave(memory_.models[entry.place]);
  }
  memory_.change(state_, kind_, entry);
  if (duties_ != nullptr) {
    duties_->on_keeper(entry.place, entry.keeper);
    do_duty();
  }
  turns_.look();  // the place of a long question may be free now
}

}  // namespace windhover
