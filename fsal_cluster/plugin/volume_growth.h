// VolumeGrowth: follows one volume's record and lets the open volume adopt each newer version while
// I/O runs.
//
// Thread class: confined to its own thread after construction. vnfsd lists a new LUN in the
// instance file before it writes the record that uses the LUN: so the file that is read after the
// event names every LUN.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "common/base/thread_annotations.h"
#include "common/kv/store.h"
#include "cvm/io/open_volume.h"

namespace symnas::plugin {

class VolumeGrowth final : private kv::WatchHandler {
 public:
  // `store` and `volume` outlive it.
  VolumeGrowth(kv::Store& store, std::string volume_name, std::string instance_file,
               cvm::OpenVolume& volume);
  ~VolumeGrowth() override;
  VolumeGrowth(const VolumeGrowth&) = delete;
  VolumeGrowth& operator=(const VolumeGrowth&) = delete;

 private:
  void on_watch_created(Revision revision) override;
  void on_watch_events(std::vector<kv::WatchEvent> events, Revision revision) override;
  void on_watch_ended(Error error) override;

  // Watches and adopts; returns when to look again.
  std::int64_t look();
  void wake(bool reopen);
  // Adopts the present record; a failure is logged and tried again.
  bool adopt();

  kv::Store& store_;
  const std::string volume_name_;
  const std::string instance_file_;
  cvm::OpenVolume& volume_;
  Mutex mutex_;
  bool look_ GUARDED_BY(mutex_) = false;   // the record may be newer than the open volume
  bool reopen_ GUARDED_BY(mutex_) = true;  // there is no watch
  std::unique_ptr<kv::Watch> watch_;       // confined to the thread
  Loop loop_;                              // last: it uses all else
};

}  // namespace symnas::plugin
