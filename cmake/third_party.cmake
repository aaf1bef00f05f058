# Third-party libraries, all Debian packages (deploy/setup/packages), under one name each. Which
# folder may use which is enforced by tests/check/includes.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(spdlog REQUIRED)          # spdlog::spdlog
find_package(fmt REQUIRED)             # fmt::fmt
find_package(nlohmann_json REQUIRED)   # nlohmann_json::nlohmann_json
find_package(tomlplusplus REQUIRED)    # tomlplusplus::tomlplusplus
find_package(CLI11 REQUIRED)           # CLI11::CLI11
find_package(tl-expected REQUIRED)     # tl::expected
find_package(rapidcheck REQUIRED)      # rapidcheck

foreach(module IN ITEMS
    PROTOBUF=protobuf GRPCPP=grpc++ URING=liburing LIBNFS=libnfs ZLIB=zlib MNL=libmnl BLKID=blkid
    SYSTEMD=libsystemd HTTPLIB=cpp-httplib PROMETHEUS=prometheus-cpp-core OPENSSL=openssl
    TIRPC=libtirpc QUORUM=libquorum CMAP=libcmap COROSYNC=libcorosync_common
    BENCHMARK=benchmark GMOCK_MAIN=gmock_main GMOCK=gmock GTEST=gtest)
  string(REPLACE "=" ";" pair ${module})
  list(POP_FRONT pair prefix package)
  pkg_check_modules(${prefix} REQUIRED QUIET IMPORTED_TARGET GLOBAL ${package})  # PkgConfig::...
endforeach()
