"""The include check finds what it is there to find."""

import unittest

from loading import load

includes = load("includes")

TREE = {"common/base/result.h", "common/kv/store.h", "common/kv/etcd/rpc.proto",
        "common/kv/mem/mem_store.h", "cvm/layout.h", "cvm/io/ring.h", "fsal_cluster/mount/mount.h",
        "fsal_cluster/ops/create.h", "fsal_cluster/data/file_data.h",
        "fsal_cluster/types/types.h", "fsal_cluster/plugin/entry.h", "ha/policy/planner.h",
        "vnfsd/records/cluster_view.h", "vnfsd/plans/plans.h", "vnfsd/api/server.h",
        "vnfsd/ctl/table.h", "vnfsd/limits.h", "vnfsd/daemon/head/this_head.h",
        "vnfsd/daemon/follow/cluster_reader.h", "vnfsd/daemon/admin/status_admin.h"}


def problem(path, target, quote='"'):
    return includes.check_include(path, quote, target, TREE.__contains__)


class Direction(unittest.TestCase):
    def test_downwards_is_fine(self):
        for path, target in (("common/kv/store.cc", "common/base/result.h"),
                             ("cvm/layout.cc", "common/kv/store.h"),
                             ("fsal_cluster/ops/create.cc", "cvm/layout.h"),
                             ("fsal_cluster/ops/create.cc", "fsal_cluster/ops/create.h"),
                             ("fsal_cluster/ops/create.cc", "fsal_cluster/data/file_data.h"),
                             ("fsal_cluster/data/read.cc", "fsal_cluster/types/types.h"),
                             ("fsal_cluster/mount/mount.cc", "fsal_cluster/ops/create.h"),
                             ("fsal_cluster/plugin/entry.cc", "cvm/io/ring.h"),
                             ("fsal_cluster/plugin/entry.cc", "fsal_cluster/mount/mount.h"),
                             ("ha/policy/planner.cc", "cvm/layout.h"),
                             ("vnfsd/plans/plans.cc", "ha/policy/planner.h"),
                             ("vnfsd/plans/plans.cc", "vnfsd/records/cluster_view.h"),
                             ("vnfsd/api/server.cc", "vnfsd/plans/plans.h"),
                             ("vnfsd/daemon/follow/cluster_reader.cc",
                              "vnfsd/daemon/head/this_head.h"),
                             ("vnfsd/daemon/agent.cc", "vnfsd/daemon/admin/status_admin.h"),
                             ("vnfsd/api/server.cc", "fsal_cluster/mount/mount.h")):
            self.assertIsNone(problem(path, target), (path, target))

    def test_upwards_and_sideways_are_found(self):
        for path, target in (("common/base/result.cc", "common/kv/store.h"),
                             ("common/kv/store.cc", "common/kv/mem/mem_store.h"),
                             ("cvm/layout.cc", "cvm/io/ring.h"),
                             ("cvm/layout.cc", "fsal_cluster/mount/mount.h"),
                             ("fsal_cluster/mount/mount.cc", "ha/policy/planner.h"),
                             ("ha/policy/planner.cc", "fsal_cluster/mount/mount.h"),
                             ("fsal_cluster/mount/mount.cc", "fsal_cluster/plugin/entry.h"),
                             ("fsal_cluster/ops/create.cc", "fsal_cluster/mount/mount.h"),
                             ("fsal_cluster/data/read.cc", "fsal_cluster/mount/mount.h"),
                             ("fsal_cluster/data/read.cc", "fsal_cluster/ops/create.h"),
                             ("fsal_cluster/types/types.cc", "fsal_cluster/data/file_data.h"),
                             ("fsal_cluster/another/a.cc", "fsal_cluster/types/types.h"),
                             ("fsal_cluster/mount/mount.cc", "cvm/io/ring.h"),
                             ("vnfsd/api/server.cc", "fsal_cluster/plugin/entry.h"),
                             ("vnfsd/records/cluster_view.cc", "vnfsd/plans/plans.h"),
                             ("vnfsd/plans/plans.cc", "vnfsd/api/server.h"),
                             ("vnfsd/ctl/table.cc", "vnfsd/records/cluster_view.h"),
                             ("vnfsd/ctl/table.cc", "vnfsd/limits.h"),
                             ("vnfsd/daemon/head/this_head.cc",
                              "vnfsd/daemon/follow/cluster_reader.h"),
                             ("vnfsd/daemon/follow/cluster_reader.cc",
                              "vnfsd/daemon/admin/status_admin.h"),
                             ("ha/policy/planner.cc", "vnfsd/api/server.h")):
            self.assertIsNotNone(problem(path, target), (path, target))

    def test_generated_headers_belong_to_the_folder_of_their_proto(self):
        target = "common/kv/etcd/rpc.grpc.pb.h"
        self.assertIsNone(problem("common/kv/etcd/store.cc", target))
        self.assertIsNotNone(problem("common/kv/store.cc", target))

    def test_tests_may_include_everything(self):
        self.assertIsNone(problem("tests/unit/cvm/layout_test.cc", "fsal_cluster/plugin/entry.h"))


class ThirdParty(unittest.TestCase):
    def test_only_in_the_folder_that_adapts_it(self):
        for path, target in (("fsal_cluster/mount/mount.cc", "grpcpp/grpcpp.h"),
                             ("cvm/layout.cc", "liburing.h"),
                             ("cvm/layout.cc", "gtest/gtest.h"),
                             ("cvm/layout.cc", "tl/expected.hpp")):
            self.assertIsNotNone(problem(path, target, "<"), (path, target))
        for path, target in (("common/kv/etcd/store.cc", "grpcpp/grpcpp.h"),
                             ("cvm/io/ring.cc", "liburing.h"),
                             ("common/base/result.h", "tl/expected.hpp"),
                             ("cvm/layout.cc", "vector")):
            self.assertIsNone(problem(path, target, "<"), (path, target))

    def test_ganesha_headers_stay_in_the_plugin(self):
        self.assertIsNone(problem("fsal_cluster/plugin/entry.cc", "fsal_api.h"))
        self.assertIsNotNone(problem("fsal_cluster/mount/mount.cc", "fsal_api.h"))


if __name__ == "__main__":
    unittest.main()
