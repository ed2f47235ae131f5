#include "windhover/io/http/page_asset.h"

#include <algorithm>

namespace windhover {

const PageAsset* find_page_asset(std::string_view path) noexcept {
  const std::span<const PageAsset> all = page_assets();
  const auto found = std::ranges::find(all, path, &PageAsset::path);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace windhover
