// What an object must carry over to go on, elsewhere, as if nothing had happened.
#ifndef WINDHOVER_PLATFORM_STATE_VISITOR_H_
#define WINDHOVER_PLATFORM_STATE_VISITOR_H_

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

namespace windhover {

// A class that has state has `void visit_state(StateVisitor&) noexcept`, which shows all of it, in
// one order, as numbers. A visitor that writes reads them; one that restores puts others in their
// place, as many and in the same order. What follows from configuration, and scratch, is not shown.
//
// Counts that depend on the state are visited before what they count, so that a restored count
// says how much follows.
class StateVisitor {
 public:
  virtual void visit(std::span<double> numbers) noexcept = 0;
  virtual void visit(std::span<std::uint64_t> numbers) noexcept = 0;
  virtual void visit(std::span<std::uint32_t> numbers) noexcept = 0;

  void value(double& number) noexcept { visit(std::span<double>(&number, 1)); }
  // Whole numbers, flags and enums, as 64 bits.
  template <class T>
    requires(std::integral<T> || std::is_enum_v<T>)
  void value(T& number) noexcept {
    auto bits = static_cast<std::uint64_t>(number);
    visit(std::span<std::uint64_t>(&bits, 1));
    number = static_cast<T>(bits);
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
