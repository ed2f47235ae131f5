#include "windhover/samplers/linear_algebra/inverse_factor.h"

#include <algorithm>

#include "windhover/samplers/kernels/kernels.h"

namespace windhover {

// Calls f(first row, width, columns, offset) for each panel. The last panel also takes the rows
// that do not fill one, because few rows alone are slow. Its width is whole cache lines; rows
// beyond D are 0.
template <class F>
void InverseFactor::for_panels(F&& f) const noexcept {
  std::size_t offset = 0;
  for (std::size_t first = 0; first < stride_;) {
    const std::size_t left = stride_ - first;
    const std::size_t width = left < 2 * kPanel ? left : kPanel;
    const std::size_t columns = std::min(first + width, dimension_);
    f(first, width, columns, offset);
    offset += width * columns;
    first += width;
  }
}

std::size_t InverseFactor::numbers() const noexcept {
  std::size_t total = 0;
  for_panels([&](std::size_t, std::size_t width, std::size_t columns, std::size_t) {
    total += width * columns;
  });
  return total;
}

InverseFactor::InverseFactor(Arena& arena, std::uint32_t dimension) noexcept
    : dimension_(dimension),
      stride_(stride_for(dimension)),
      panels_(arena.allocate<double>(numbers()).data()) {}

void InverseFactor::compute(const Factor& factor, double scale, double* inverse,
                            Interlude* interlude) noexcept {
  ++computations_;
  factor.inverse_root_rows(inverse, interlude);
  for_panels([&](std::size_t first, std::size_t width, std::size_t columns, std::size_t offset) {
    double* panel = panels_ + offset;
    std::fill_n(panel, width * columns, 0.0);
    for (std::size_t i = first; i < columns; ++i) {
      const double* row = inverse + i * dimension_;
      for (std::size_t j = 0; j <= i; ++j) panel[j * width + i - first] = row[j];
      advance(interlude, kProductsANumber * static_cast<double>(i));
    }
  });
  square_root_rows(scale, factor.dimension(), inverse, interlude);
}

void InverseFactor::copy_from(const InverseFactor& other) noexcept {
  if (computations_ == other.computations_ && computations_ != 0) return;
  computations_ = other.computations_;
  std::copy_n(other.panels_, numbers(), panels_);
}

void InverseFactor::visit_state(StateVisitor& visitor) noexcept {
  visitor.visit(panels_, numbers());
  if (visitor.restores()) ++computations_;  // more than any copy has seen
}

void InverseFactor::visit_copy(StateVisitor& visitor) noexcept {
  visitor.visit(panels_, numbers());
  if (visitor.restores()) computations_ = 0;  // fewer than there are
}

void InverseFactor::multiply_transposed(const double* whitened, double* product) const noexcept {
  std::fill_n(product, dimension_, 0.0);
  for_panels([&](std::size_t first, std::size_t width, std::size_t columns, std::size_t offset) {
    const auto rows = static_cast<Index>(width);
    const auto used = static_cast<Index>(columns);
    const ConstMatrixMap panel(panels_ + offset, rows, used);
    VectorMap(product, used).noalias() +=
        panel.transpose() * ConstVectorMap(whitened + first, rows);
  });
}

void InverseFactor::whiten(const double* x, std::size_t count, double* whitened) const noexcept {
  std::fill_n(whitened, count * stride_, 0.0);
  for_panels([&](std::size_t first, std::size_t width, std::size_t columns, std::size_t offset) {
    kernels().multiply_add(x, stride_, 1, panels_ + offset, width, whitened + first, stride_, count,
                           width, columns);
  });
}

}  // namespace windhover
