# Installs the build in BUILD_DIR to a scratch folder, builds the hosts against it, runs them.
set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})
if(WITH_IO)
  set(served_host "${WORK_DIR}/host/served_host")
endif()
foreach(command IN ITEMS
    "${CMAKE_COMMAND};--install;${BUILD_DIR};--prefix;${prefix}"
    "${CMAKE_COMMAND};-S;${SOURCE_DIR};-B;${WORK_DIR}/host;-DCMAKE_PREFIX_PATH=${prefix};-DCMAKE_BUILD_TYPE=Release"
    "${CMAKE_COMMAND};--build;${WORK_DIR}/host"
    "${WORK_DIR}/host/host"
    ${served_host})
  execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${command} failed:\n${output}")
  endif()
endforeach()
message(STATUS "${output}")
