# Writes OUTPUT, a source file that holds files of FOLDER as the function FUNCTION of HEADER, which
# declares it. FILES is a list parted by ","; without it all files are taken that are there, which may
# be none. A file is served at ROOT and its path, but index.html at INDEX. The assembler takes the
# bytes as they stand, so that megabytes cost the compiler nothing.
cmake_minimum_required(VERSION 3.25)

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_csv "text/csv; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_json "application/json")
set(type_svg "image/svg+xml")
set(type_txt "text/plain; charset=utf-8")
set(type_awk "text/plain; charset=utf-8")

string(REPLACE "," ";" files "${FILES}")
if(NOT files)
  file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
endif()
set(bytes "")
set(names "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
  file(SHA256 ${FOLDER}/${file} hash)
  string(SUBSTRING ${hash} 0 32 hash)
  file(SIZE ${FOLDER}/${file} size)
  cmake_path(GET file EXTENSION LAST_ONLY extension)
  string(SUBSTRING ${extension} 1 -1 extension)
  if(NOT DEFINED type_${extension})
    message(FATAL_ERROR "no content type is known of ${file}")
  endif()
  set(path "${ROOT}${file}")
  if(file STREQUAL "index.html")
    set(path "${INDEX}")
  endif()
  set(name "windhover_${FUNCTION}_${number}")
  string(APPEND bytes "    \"${name}: .incbin \\\"${FOLDER}/${file}\\\"\\n\"\n")
  string(APPEND names "extern const char ${name}[];\n")
  string(APPEND entries "    PageAsset{\"${path}\", \"${type_${extension}}\",\n              {${name}, ${size}}, \"\\\"${hash}\\\"\"},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${OUTPUT}
"// Written by io/http/page/embed.cmake.
#include \"${HEADER}\"

#include <array>

asm(\".section .rodata\\n\"
${bytes}    \".previous\\n\");

#pragma GCC visibility push(hidden)
extern \"C\" {
${names}}
#pragma GCC visibility pop

namespace windhover {
namespace {

constexpr std::array<PageAsset, ${number}> kAssets = {{
${entries}}};

}  // namespace

std::span<const PageAsset> ${FUNCTION}() noexcept { return kAssets; }

}  // namespace windhover
")
