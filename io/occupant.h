// What an endpoint sees of a connection that has one of its places.
#ifndef WINDHOVER_IO_OCCUPANT_H_
#define WINDHOVER_IO_OCCUPANT_H_

#include <cstdint>

namespace windhover {

// A session, or a connection of HTTP, as the code that gives places away sees it. A value that
// holds for the moment, on the endpoint's thread.
struct Occupant {
  enum class Stage : std::uint8_t {
    kNobody,
    kHere,
    kParting,   // nothing more is handled, its last replies are being sent
    kLingers,   // all is sent; what its peer still sends is discarded until it closes
    kIsClosed,  // operations under way are coming back
  };

  bool is_free() const noexcept { return stage == Stage::kNobody; }
  bool is_here() const noexcept { return stage == Stage::kHere; }
  bool lingers() const noexcept { return stage == Stage::kLingers; }
  bool is_closed() const noexcept { return stage == Stage::kIsClosed; }

  Stage stage = Stage::kNobody;
  bool greeted = false;       // it has said Hello; over HTTP: is known, or a request has come whole
  bool stranger = false;      // its peer is not known: it may be closed for others
  bool on_trial = false;      // on a place kept for operators, and not known to be an admin
  std::uint64_t address = 0;  // where the peer is, see Credential::of_address()
  std::int64_t begun_ns = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_OCCUPANT_H_
