// A filesystem whose usage is counted, and what tests ask of its directory trees.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "common/kv/usage_keys.h"
#include "fsal_cluster/ops/link.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/ops/rmdir.h"
#include "fsal_cluster/quota/quota_admin.h"
#include "fsal_cluster/quota/tree_admin.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {

struct TreeWorld : World {
  TreeWorld() {
    EXPECT_TRUE(switch_quotas(store(), fs(), QuotaSwitch::kOn));
    EXPECT_TRUE(session().barrier());
  }
  std::uint32_t add(const Handle& directory) {
    const auto made = add_tree(store(), fs(), directory.ino, "/a tree");
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_TRUE(session().barrier());
    return made.value_or(0);
  }
  Status move(const Handle& from, const std::string& name, const Handle& to) {
    const auto done = rename(context(), kRoot, from, name, to, name);
    return done ? Status() : Status(tl::unexpected(done.error()));
  }
  Status make_link(const Handle& file, const Handle& dir, const std::string& name) {
    const auto done = link(context(), kRoot, file, dir, name);
    return done ? Status() : Status(tl::unexpected(done.error()));
  }
  std::map<std::uint32_t, records::QuotaTree> trees() { return read_quotas(store(), fs())->trees; }
  records::Inode inode(const Handle& of) {
    const auto read =
        kv::range_blocking(store(), kv::single_key(kv::keys::inode(fs(), of.ino)), 1, 1000);
    records::Inode out;
    EXPECT_TRUE(!read->kvs.empty() && out.ParseFromString(read->kvs[0].value));
    return out;
  }
  std::uint32_t number(const Handle& of) { return inode(of).tree(); }
};

inline ErrorCode code_of(const Status& status) {
  return status ? ErrorCode::kInternal : status.error().code;
}

}  // namespace symnas::fs
