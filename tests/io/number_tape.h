#ifndef WINDHOVER_TESTS_IO_NUMBER_TAPE_H_
#define WINDHOVER_TESTS_IO_NUMBER_TAPE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "windhover/platform/state_visitor.h"

namespace windhover::testing {

// Keeps the numbers that it is shown, and brings them back.
struct NumberTape final : StateVisitor {
  void visit(std::span<double>) noexcept override {}
  void visit(std::span<std::uint32_t>) noexcept override {}
  void visit(std::span<std::uint64_t> some) noexcept override {
    for (std::uint64_t& number : some) {
      if (restoring) {
        number = read < numbers.size() ? numbers[read++] : 0;
      } else {
        numbers.push_back(number);
      }
    }
  }
  bool restores() const noexcept override { return restoring; }

  std::vector<std::uint64_t> numbers;
  std::size_t read = 0;
  bool restoring = false;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_NUMBER_TAPE_H_
