# symnas_ganesha: ganesha's headers and libraries as deploy/setup/setup leaves them in the cache.
# Only fsal_cluster/plugin links it. Without a filled cache the target does not exist, and the
# plugin is left out with a message.
set(SYMNAS_GANESHA ${SYMNAS_CACHE}/ganesha)
if(EXISTS ${SYMNAS_GANESHA}/sdk/include/config.h)
  pkg_check_modules(URCU_BP REQUIRED IMPORTED_TARGET liburcu-bp)
  pkg_check_modules(DBUS REQUIRED IMPORTED_TARGET dbus-1)
  add_library(symnas_ganesha INTERFACE)
  target_include_directories(symnas_ganesha SYSTEM INTERFACE
    ${SYMNAS_GANESHA}/sdk/include ${SYMNAS_GANESHA}/sdk/include/os/linux
    ${SYMNAS_GANESHA}/sdk/ntirpc)
  # As ganesha itself is compiled: structures shared with it depend on these.
  target_compile_definitions(symnas_ganesha INTERFACE
    HAS_DOFF _GNU_SOURCE=1 __USE_GNU _LARGEFILE64_SOURCE _FILE_OFFSET_BITS=64)
  target_compile_options(symnas_ganesha INTERFACE -fno-strict-aliasing)
  target_link_directories(symnas_ganesha INTERFACE ${SYMNAS_GANESHA}/lib)
  target_link_libraries(symnas_ganesha INTERFACE
    ganesha_nfsd ntirpc PkgConfig::URCU_BP PkgConfig::DBUS)
else()
  message(STATUS "no ganesha in ${SYMNAS_GANESHA}: run deploy/setup/setup to build the plugin")
endif()
