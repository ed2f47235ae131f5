#ifndef WINDHOVER_IO_HTTP_PAGE_ASSET_H_
#define WINDHOVER_IO_HTTP_PAGE_ASSET_H_

#include <span>
#include <string_view>

namespace windhover {

// A file inside the program: of the page at "/" (page/README.md), of a manual under "/docs/", or
// the description of the interface. It is the same for everybody and has no data of a model or of
// the client.
struct PageAsset {
  std::string_view path;  // where it is served
  std::string_view content_type;
  std::string_view body;
  std::string_view etag;  // changes with the body; quotes included
};

// In no order; one of them is "/". Written at build time by page/embed.cmake.
std::span<const PageAsset> page_assets() noexcept;

// The same for openapi.json, at "/v1/openapi.json".
std::span<const PageAsset> description_assets() noexcept;

// Null: there is none at this path, which must match exactly.
const PageAsset* find_page_asset(std::span<const PageAsset> assets, std::string_view path) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_PAGE_ASSET_H_
