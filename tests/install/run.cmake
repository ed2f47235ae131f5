# Installs the build in BUILD_DIR to a scratch folder, builds the hosts against it, runs them and the
# installed programs.
set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})

# run(COMMAND...): it must end with 0; what it said is in `output`.
macro(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
endmacro()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/host
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/host)
run(${WORK_DIR}/host/host)
message(STATUS "${output}")
if(WITH_IO)
  run(${SOURCE_DIR}/../examples/serve_and_ask ${WORK_DIR}/host/serve ${WORK_DIR}/host/send_and_ask)
  message(STATUS "${output}")
endif()
string(REPLACE "," ";" programs "${PROGRAMS}")
foreach(program IN LISTS programs)
  run(${prefix}/bin/${program} --version)
  if(NOT output STREQUAL "${VERSION}\n")
    message(FATAL_ERROR "${program} --version said \"${output}\", not ${VERSION}")
  endif()
endforeach()
file(REMOVE_RECURSE ${WORK_DIR})
