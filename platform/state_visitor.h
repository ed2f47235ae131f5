// What an object must carry over to go on, elsewhere, as if nothing had happened.
#ifndef WINDHOVER_PLATFORM_STATE_VISITOR_H_
#define WINDHOVER_PLATFORM_STATE_VISITOR_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace windhover {

// A class with state has `void visit_state(StateVisitor&) noexcept`, which shows all of it as
// numbers, in one order. A saving visitor reads these numbers; a restoring one replaces them by
// others, as many and in the same order. Not shown are scratch and what follows from the
// configuration or from numbers that are shown.
//
// A count that depends on the state is visited before what it counts, so that a restored count says
// how much follows. Counts, flags and enums are not checked here. Whoever restores from a medium
// that can be damaged first checks a checksum over the whole state, and that the configuration is
// the same, as EngineState::restore does. Without these checks a restore may read and write out of
// bounds.
class StateVisitor {
 public:
  // The numbers from here to the next section belong to `name`, which lives as long as the program.
  // `version` grows when the class shows other numbers or another order.
  virtual void section(const char* /*name*/, std::uint32_t /*version*/ = 1) noexcept {}
  // Whether this visitor replaces the numbers that it is shown: what follows from them is then
  // computed anew.
  virtual bool restores() const noexcept { return false; }

  virtual void visit(std::span<double> numbers) noexcept = 0;
  virtual void visit(std::span<std::uint64_t> numbers) noexcept = 0;
  virtual void visit(std::span<std::uint32_t> numbers) noexcept = 0;

  void visit(double* numbers, std::size_t count) noexcept {
    visit(std::span<double>(numbers, count));
  }
  void value(double& number) noexcept { visit(std::span<double>(&number, 1)); }
  // Shows whole numbers, flags and enums as 64 bits. A visitor that only reads leaves them
  // untouched: others may be reading too.
  template <class T>
  requires(std::integral<T> || std::is_enum_v<T>) void value(T& number) noexcept {
    auto bits = static_cast<std::uint64_t>(number);
    visit(std::span<std::uint64_t>(&bits, 1));
    if (restores()) number = static_cast<T>(bits);
  }
  template <class... T>
  void values(T&... numbers) noexcept {
    (value(numbers), ...);
  }

 protected:
  ~StateVisitor() = default;
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_STATE_VISITOR_H_
