// View: one filesystem's records at one revision of the store, however long reading takes. Thread
// class: thread-compatible; reads block.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "cvm/records.pb.h"
#include "fsal_cluster/check/context.h"
#include "fsal_cluster/check/window.h"

namespace symnas::fs::check {

class View {
 public:
  // Opens a view at the newest revision. Errors: kNotFound (no such filesystem, or it is being
  // removed), kCorrupt (its record or its volume's), kUnavailable, as Store::txn.
  static Result<View> open(kv::Store& store, const std::string& name);

  const Context& context() const { return context_; }
  const cvm::records::VolumeRecord& volume() const { return volume_; }
  Revision revision() const { return revision_; }

  // Every key of the range, ascending, in pages. Errors: kCompacted (the revision is gone: open
  // another view), kUnavailable (no page within kPageDeadlineMs).
  // `after_page` is called after each page; its error ends reading with that error.
  Status read(const kv::KeyRange& range, const std::function<void(const kv::KeyValue&)>& visit,
              const std::function<Status()>& after_page = {});
  // Values in the order of the keys; nullopt: absent. At most kPathKeysMax. Errors: as read().
  Result<std::vector<std::optional<std::string>>> get(const std::vector<std::string>& keys);

 private:
  explicit View(kv::Store& store) : store_(&store) {}
  Status load(const std::string& name);
  Status load_volume();
  Result<kv::OpResult> read_page(Window& window, std::int64_t& keys_max);

  kv::Store* store_;
  Context context_;
  cvm::records::VolumeRecord volume_;
  Revision revision_;
};

}  // namespace symnas::fs::check
