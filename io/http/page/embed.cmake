# Writes OUTPUT, a source file that holds the FILES of FOLDER (a list parted by ",") as
# page_assets(). index.html is served at "/", any other file at "/page/" and its path.
cmake_minimum_required(VERSION 3.25)

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_txt "text/plain; charset=utf-8")

string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
  file(READ ${FOLDER}/${file} bytes HEX)
  file(SHA256 ${FOLDER}/${file} hash)
  string(SUBSTRING ${hash} 0 32 hash)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  cmake_path(GET file EXTENSION LAST_ONLY extension)
  string(SUBSTRING ${extension} 1 -1 extension)
  if(NOT DEFINED type_${extension})
    message(FATAL_ERROR "no content type is known of ${file}")
  endif()
  set(path "/page/${file}")
  if(file STREQUAL "index.html")
    set(path "/")
  endif()
  string(APPEND arrays "constexpr char kBody${number}[] = {${bytes}};\n")
  string(APPEND entries "    {\"${path}\", \"${type_${extension}}\",\n"
    "     {kBody${number}, sizeof kBody${number}}, \"\\\"${hash}\\\"\"},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${OUTPUT}
"// Written by io/http/page/embed.cmake.
#include \"windhover/io/http/page_asset.h\"

namespace windhover {
namespace {

${arrays}
constexpr PageAsset kAssets[] = {
${entries}};

}  // namespace

std::span<const PageAsset> page_assets() noexcept { return kAssets; }

}  // namespace windhover
")
