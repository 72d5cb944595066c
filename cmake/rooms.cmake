# Headers that most files of a room include, read once for all of them. Only where files are
# compiled for tests alone: elsewhere each must do without, and ccache cannot keep what has one.
set(COMMON_HEADERS <algorithm> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <optional>
    <span> <string> <thread> <unordered_map> <variant> <vector> <fmt/format.h>)

function(precompile target)
  if(WIDE_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE ${COMMON_HEADERS} ${ARGN})
  endif()
endfunction()

# A room is one folder of src/wide with one library, and its siblings:
#   frame.h frame.cc            the room's code        -> library wide_<room>
#   frame_test.cc               unit tests             -> program <room>_test
#   frame_fuzz.cc               a libFuzzer target     -> program frame_fuzz (preset asan)
#   frame_bench.cc              a Google Benchmark     -> program frame_bench
#
#   wide_room(wire USES base LIBS PkgConfig::XXHASH)
#
# Tests carry the label unit-<room>: `ctest -L unit` runs all of them, `ctest -L unit-net` one room's.
# USES names the rooms below it; scripts/check_rooms.py holds the includes to the same arrows.
function(wide_room room)
  cmake_parse_arguments(ROOM "" "TEST_ENVIRONMENT" "USES;LIBS;TEST_LIBS;PRECOMPILED" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/wide/${room})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${dir}/*.cc)
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$")
  list(TRANSFORM ROOM_USES PREPEND wide_)

  if(sources)
    add_library(wide_${room} STATIC ${sources})
    target_link_libraries(wide_${room} PUBLIC wide_flags ${ROOM_USES} ${ROOM_LIBS})
    precompile(wide_${room} ${ROOM_PRECOMPILED})
  else()
    add_library(wide_${room} INTERFACE)
    target_link_libraries(wide_${room} INTERFACE wide_flags ${ROOM_USES} ${ROOM_LIBS})
  endif()

  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(tests AND WIDE_TESTS)
    add_executable(${room}_test ${tests})
    target_link_libraries(${room}_test PRIVATE wide_${room} ${ROOM_TEST_LIBS} wide_test_libs)
    precompile(${room}_test ${ROOM_PRECOMPILED} <gtest/gtest.h>)
    add_dependencies(unit_tests ${room}_test)
    set(environment "")
    if(ROOM_TEST_ENVIRONMENT)
      set(environment ENVIRONMENT ${ROOM_TEST_ENVIRONMENT})
    endif()
    gtest_discover_tests(${room}_test TEST_PREFIX "${room}." DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS "unit-${room}" TIMEOUT 90 ${environment})
  endif()

  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  if(WIDE_FUZZ)
    foreach(source IN LISTS fuzzers)
      get_filename_component(name ${source} NAME_WE)
      add_executable(${name} ${source})
      target_link_libraries(${name} PRIVATE wide_${room})
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()

  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  if(WIDE_BENCH)
    foreach(source IN LISTS benches)
      get_filename_component(name ${source} NAME_WE)
      add_executable(${name} ${source})
      target_link_libraries(${name} PRIVATE wide_${room} benchmark::benchmark_main)
    endforeach()
  endif()
endfunction()
