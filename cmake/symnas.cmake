# How everything of symnas is compiled, and the functions that the folders declare themselves with:
#
#   symnas_library(NAME SOURCES a.cc b.cc DEPS symnas_base [PRIVATE_DEPS PkgConfig::URING])
#   symnas_executable(NAME SOURCES main.cc DEPS symnas_ctl)
#   symnas_proto(TARGET [GRPC] a.proto b.proto)      # #include "<folder>/a.pb.h"
#   symnas_test(NAME n SOURCES tests/unit/x_test.cc LIBS symnas_x
#               [LABELS unit|contract|property|lab] [TIMEOUT_S 60] [ARGS ...])
#
# SOURCES are looked up in the current folder first, then from the root of the repository.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)  # gnu++20: ganesha's headers use typeof
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # everything may end up in libfsalcluster.so
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "build type" FORCE)
endif()

# Functions and lines, for backtraces and perf. Variables (level 2) cost a third of the build's
# time: -DSYMNAS_DEBUG_INFO=2 for a debugger.
set(SYMNAS_DEBUG_INFO 1 CACHE STRING "level of debug information: 0 to 3")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g${SYMNAS_DEBUG_INFO} -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g${SYMNAS_DEBUG_INFO} -DNDEBUG")
option(SYMNAS_WERROR "warnings are errors" OFF)
set(SYMNAS_SANITIZE "" CACHE STRING "empty, address,undefined or thread")
option(SYMNAS_FUZZ "tests/fuzz, with clang only" OFF)
if(DEFINED ENV{SYMNAS_CACHE})
  set(symnas_cache_default $ENV{SYMNAS_CACHE})
else()
  set(symnas_cache_default /var/cache/symnas)
endif()
set(SYMNAS_CACHE ${symnas_cache_default} CACHE PATH "what deploy/setup/setup has filled")

find_program(SYMNAS_CCACHE ccache)
if(SYMNAS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Clones in other folders share what was compiled.
  set(symnas_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    ${SYMNAS_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${symnas_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${symnas_launcher})
endif()
find_program(SYMNAS_MOLD mold)
find_program(SYMNAS_LLD ld.lld)
if(SYMNAS_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(SYMNAS_LLD)
  add_link_options(-fuse-ld=lld)
endif()

include(third_party)

# What our own code is compiled with, on top of the language settings above. Generated code and
# third-party headers (SYSTEM) are exempt.
add_library(symnas_flags INTERFACE)
target_include_directories(symnas_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/gen)
target_compile_definitions(symnas_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_compile_options(symnas_flags INTERFACE
  -Wall -Wextra -Wshadow -Wformat=2 -Wundef -Wvla -Wfloat-conversion -Wpointer-arith
  -Wno-missing-field-initializers  # designated initialisers leave out what is zero
  -fno-omit-frame-pointer
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wsuggest-override
                            -Wredundant-move -Wpessimizing-move>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
  $<$<BOOL:${SYMNAS_WERROR}>:-Werror>)
target_link_libraries(symnas_flags INTERFACE Threads::Threads)
if(SYMNAS_SANITIZE)
  add_compile_options(-fsanitize=${SYMNAS_SANITIZE} -fno-sanitize-recover=all -O1)
  add_link_options(-fsanitize=${SYMNAS_SANITIZE})
  if(SYMNAS_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link -Wno-deprecated-declarations)
  endif()
  # Where programs put their reports, and what they do not report: tests/lab/sanitizer/README.md.
  set(symnas_sanitizer ${CMAKE_SOURCE_DIR}/tests/lab/sanitizer)
  add_library(symnas_sanitizer_options OBJECT ${symnas_sanitizer}/options.cc)
  if(SYMNAS_SANITIZE MATCHES thread)
    target_sources(symnas_sanitizer_options PRIVATE ${symnas_sanitizer}/grpc_order.c)
  endif()
  target_compile_definitions(symnas_sanitizer_options PRIVATE
    _GNU_SOURCE SYMNAS_REPORTS="${CMAKE_BINARY_DIR}/reports"
    SYMNAS_SUPPRESSIONS="${symnas_sanitizer}/suppressions.lsan")
  target_compile_options(symnas_sanitizer_options PRIVATE -fno-sanitize=all)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/reports)
endif()

# Turns names into absolute paths; a missing file is an error that names the folder.
function(symnas_resolve out)
  set(found)
  foreach(name IN LISTS ARGN)
    if(IS_ABSOLUTE ${name})
      list(APPEND found ${name})
    elseif(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${name})
      list(APPEND found ${CMAKE_CURRENT_SOURCE_DIR}/${name})
    elseif(EXISTS ${CMAKE_SOURCE_DIR}/${name})
      list(APPEND found ${CMAKE_SOURCE_DIR}/${name})
    else()
      message(SEND_ERROR "${CMAKE_CURRENT_SOURCE_DIR}: no source file ${name}")
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Adds a folder once, if it has a CMakeLists.txt; its parent may have added it before.
function(symnas_folder folder)
  get_property(added GLOBAL PROPERTY symnas_folders_added)
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${folder}/CMakeLists.txt OR folder IN_LIST added)
    return()
  endif()
  symnas_all_subdirectories(known ${CMAKE_SOURCE_DIR})
  if(${CMAKE_SOURCE_DIR}/${folder} IN_LIST known)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY symnas_folders_added ${folder})
  add_subdirectory(${CMAKE_SOURCE_DIR}/${folder} ${CMAKE_BINARY_DIR}/${folder})
endfunction()

function(symnas_all_subdirectories out dir)
  get_property(direct DIRECTORY ${dir} PROPERTY SUBDIRECTORIES)
  set(all ${direct})
  foreach(sub IN LISTS direct)
    symnas_all_subdirectories(below ${sub})
    list(APPEND all ${below})
  endforeach()
  set(${out} ${all} PARENT_SCOPE)
endfunction()

function(symnas_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LIBS;PRIVATE_DEPS" ${ARGN})
  if(arg_SOURCES)
    symnas_resolve(sources ${arg_SOURCES})
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC symnas_flags ${arg_DEPS} ${arg_LIBS}
                                  PRIVATE ${arg_PRIVATE_DEPS})
  else()  # headers only
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE symnas_flags ${arg_DEPS} ${arg_LIBS})
  endif()
endfunction()

function(symnas_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  symnas_resolve(sources ${arg_SOURCES})
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE symnas_flags ${arg_DEPS} ${arg_LIBS})
  if(SYMNAS_SANITIZE)
    target_link_libraries(${name} PRIVATE symnas_sanitizer_options)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

# Compiles .proto files into a static library; with GRPC, also the service stubs.
function(symnas_proto target)
  cmake_parse_arguments(arg "GRPC" "" "" ${ARGN})
  find_program(SYMNAS_PROTOC protoc REQUIRED)
  symnas_resolve(protos ${arg_UNPARSED_ARGUMENTS})
  set(generated)
  foreach(proto IN LISTS protos)
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${proto})
    string(REGEX REPLACE "\\.proto$" "" stem ${CMAKE_BINARY_DIR}/gen/${path})
    set(outputs ${stem}.pb.cc ${stem}.pb.h)
    set(grpc_options)
    if(arg_GRPC)
      find_program(SYMNAS_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)
      list(APPEND outputs ${stem}.grpc.pb.cc ${stem}.grpc.pb.h)
      set(grpc_options --grpc_out=${CMAKE_BINARY_DIR}/gen
                       --plugin=protoc-gen-grpc=${SYMNAS_GRPC_PLUGIN})
    endif()
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/gen)
    add_custom_command(OUTPUT ${outputs}
      COMMAND ${SYMNAS_PROTOC} -I ${CMAKE_SOURCE_DIR} --cpp_out=${CMAKE_BINARY_DIR}/gen
              ${grpc_options} ${proto}
      DEPENDS ${proto} VERBATIM)
    list(APPEND generated ${outputs})
  endforeach()
  add_library(${target} STATIC ${generated})
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/gen)
  target_link_libraries(${target} PUBLIC PkgConfig::PROTOBUF Threads::Threads)
  if(arg_GRPC)
    target_link_libraries(${target} PUBLIC PkgConfig::GRPCPP)
  endif()
endfunction()

# "ninja" alone builds the product, "ninja tests_unit" the tests of that label, tests_all all tests.
add_custom_target(tests_all)
foreach(label IN ITEMS unit contract property lab)
  add_custom_target(tests_${label})
  add_dependencies(tests_all tests_${label})
endforeach()

# One googletest binary = one ctest test. Results are counted per test case by tests/run.
function(symnas_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT_S" "SOURCES;LIBS;DEPS;LABELS;ARGS" ${ARGN})
  if(NOT arg_NAME)
    message(FATAL_ERROR "symnas_test needs NAME")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT_S)
    set(arg_TIMEOUT_S 120)
  endif()
  symnas_resolve(sources ${arg_SOURCES})
  add_executable(${arg_NAME} EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${arg_NAME} PRIVATE symnas_flags ${arg_LIBS} ${arg_DEPS}
                                            PkgConfig::GMOCK_MAIN)
  if("property" IN_LIST arg_LABELS)
    target_link_libraries(${arg_NAME} PRIVATE rapidcheck)
  endif()
  set_target_properties(${arg_NAME} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/bin)
  foreach(label IN LISTS arg_LABELS)
    add_dependencies(tests_${label} ${arg_NAME})
  endforeach()
  add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} ${arg_ARGS})
  set_tests_properties(${arg_NAME} PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT_S} ENVIRONMENT "SYMNAS_CACHE=${SYMNAS_CACHE}")
endfunction()

include(ganesha)
