#include <map>
#include <set>

#include "tests/unit/fsal_cluster/check/damages.h"

namespace symnas::fs::test {

kv::Txn planted(FsId fs, const check::Context& context, const std::vector<kv::KeyValue>& kvs,
                const std::function<void(Keys&)>& damage) {
  std::map<std::string, kv::KeyValue> before;
  for (const kv::KeyValue& kv : kvs) before[kv.key] = kv;
  Keys keys(fs, context, kvs);
  damage(keys);
  kv::Txn txn;
  const auto change = [&](const std::string& key, kv::Op op) {
    const auto old = before.find(key);
    txn.compares.push_back(
        kv::mod_revision_is(key, old == before.end() ? Revision{0} : old->second.mod_revision));
    txn.success.push_back(std::move(op));
  };
  std::set<std::string> left;
  for (const kv::KeyValue& kv : keys.kvs()) {
    left.insert(kv.key);
    const auto old = before.find(kv.key);
    if (old == before.end() || old->second.value != kv.value)
      change(kv.key, kv::put(kv.key, kv.value));
  }
  for (const auto& [key, kv] : before)
    if (!left.contains(key)) change(key, kv::erase(key));
  if (!keys.context.vnfses->contains("vnfs1")) {
    const std::string key = kv::keys::kVnfs + "vnfs1";
    if (before.contains(key)) change(key, kv::erase(key));
  }
  if (txn.success.empty())  // only the stamp is late: as by a change that did not put it
    txn.success.push_back(kv::put(kv::keys::directory_move(fs), ""));
  return txn;
}

}  // namespace symnas::fs::test
