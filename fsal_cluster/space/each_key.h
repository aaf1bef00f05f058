// each_key: reads all keys of a range of the store, page by page. Blocks.
#pragma once

#include "common/base/result.h"
#include "common/kv/session.h"
#include "fsal_cluster/space/limits.h"

namespace symnas::fs {

// Calls visit(key, value) for every key of the range, in ascending order, until it returns an
// error. Errors: those of Session::range and of visit.
template <class Visit>
Status each_key(kv::Session& session, kv::KeyRange range, Visit visit) {
  for (;;) {
    SYMNAS_ASSIGN(const kv::OpResult page, session.range(range, kReverseMapPage));
    for (const kv::KeyValue& kv : page.kvs) SYMNAS_TRY(visit(kv));
    if (!page.more || page.kvs.empty()) return {};
    range.key = page.kvs.back().key + '\0';
  }
}

}  // namespace symnas::fs
