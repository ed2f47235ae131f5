#include "windhover/io/http/page_asset.h"

#include <algorithm>

namespace windhover {

const PageAsset* find_page_asset(std::span<const PageAsset> assets,
                                 std::string_view path) noexcept {
  const auto found = std::ranges::find(assets, path, &PageAsset::path);
  return found == assets.end() ? nullptr : &*found;
}

}  // namespace windhover
