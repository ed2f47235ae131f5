// What an object must carry over to go on, elsewhere, as if nothing had happened.
#ifndef WINDHOVER_PLATFORM_STATE_VISITOR_H_
#define WINDHOVER_PLATFORM_STATE_VISITOR_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace windhover {

// A class that has state has `void visit_state(StateVisitor&) noexcept`, which shows all of it, in
// one order, as numbers. A visitor that writes reads them; one that restores puts others in their
// place, as many and in the same order. What follows from configuration, what follows from other
// numbers shown, and scratch are left out.
//
// Counts that depend on the state are visited before what they count, so that a restored count
// says how much follows. They, and the flags and enums, are taken as they come: whoever restores
// from a medium that can be damaged has to check a checksum over the whole state first, and that it
// is of the same configuration, as EngineState::restore does. With a state that passed neither, a
// restore may read and write out of bounds.
class StateVisitor {
 public:
  // The numbers from here to the next section belong to `name`, which lives as long as the program.
  // `version` grows when a class comes to show other numbers, or another order.
  virtual void section(const char* /*name*/, std::uint32_t /*version*/ = 1) noexcept {}
  // Whether this visitor puts other numbers in the place of those it is shown: what follows from
  // them is then computed anew.
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
