// StripedVolume: VolumeIo on LUNs through an engine. It splits requests at stripe units, runs the
// parts in parallel, and answers once.
//
// Thread class: thread-safe. Callbacks run on the engine's threads.
// Invariants: INV-1 (LunFile); nothing is submitted after shut_down() has begun: new requests, and
// later phases of earlier ones, get kShutdown; a failed flush makes every later flush fail, because
// what it should have saved may be lost for good.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "common/base/thread_annotations.h"
#include "cvm/io/buffer_pool.h"
#include "cvm/io/engine.h"
#include "cvm/io/flush_group.h"
#include "cvm/io/open_volume.h"
#include "cvm/stripe_map.h"
#include "cvm/volume_io.h"

namespace symnas::cvm {

class StripedVolume final : public OpenVolume {
 public:
  // Opens every LUN of the record. Errors: see open_volume().
  static Result<std::unique_ptr<StripedVolume>> open(const records::VolumeRecord& record,
                                                     std::span<const LunPath> luns,
                                                     const OpenOptions& options,
                                                     std::unique_ptr<Engine> engine);
  // Calls shut_down(). REQUIRES: not on an engine thread.
  ~StripedVolume() override;

  std::uint64_t size_bytes() const override { return layout().map.size_bytes(); }
  std::uint32_t logical_block_bytes() const override { return logical_block_bytes_; }
  std::uint32_t stripe_unit_bytes() const override { return layout().map.stripe_unit_bytes(); }
  Buffer buffer(std::size_t bytes) override { return pool_->take(bytes); }
  void read(VolumeOffset offset, std::span<std::byte> into, IoCallback done) override;
  void write(VolumeOffset offset, std::span<const std::byte> from, Durability durability,
             IoCallback done) override;
  void write_edges(VolumeOffset offset, std::span<const std::byte> from, Durability durability,
                   IoCallback done) override;
  void flush(IoCallback done) override;
  std::vector<LunCounters> counters() const override;

  std::uint64_t version() const override { return layout().version; }
  Status grow(const records::VolumeRecord& record, std::span<const LunPath> luns) override;
  std::string_view engine_name() const override { return engine_->name(); }

  bool on_engine_thread() const { return engine_->on_engine_thread(); }
  // Refuses new requests and waits until the last callback has returned. REQUIRES: not on an engine
  // thread.
  void shut_down();

 private:
  struct Layout {
    records::VolumeRecord record;
    std::uint64_t version = 0;
    StripeMap map;
    std::vector<LunFile*> luns;  // by LunIndex
  };
  struct Request;
  struct EdgeWrite;
  struct FlushRound;

  StripedVolume(std::unique_ptr<Engine> engine, const OpenOptions& options);
  const Layout& layout() const { return *layout_.load(std::memory_order_acquire); }
  Status adopt(const records::VolumeRecord& record, std::span<const LunPath> luns)
      REQUIRES(grow_mutex_);

  void transfer(IoKind kind, VolumeOffset offset, std::byte* data, std::size_t length,
                Durability durability, IoCallback done);
  void add_pieces(Request& request, IoKind kind, VolumeOffset offset, std::byte* data,
                  std::size_t length, Durability durability) const;
  void answer(Status status, IoCallback done);
  void run(std::unique_ptr<Request> request);
  void finish(Request& request);
  static void part_done(LunIo& io, int error_number);
  Status check_range(const char* what, VolumeOffset offset, std::size_t length) const;

  void start_edge_write(std::unique_ptr<EdgeWrite> edge);
  void finish_edge_write(std::unique_ptr<EdgeWrite> edge);
  void start_flush_round();
  void finish_flush_round(FlushRound& round, Status status);

  const OpenOptions options_;
  BufferPool::Handle pool_;
  std::uint32_t logical_block_bytes_ = 0;  // set by the first adopt(), constant afterwards

  Mutex grow_mutex_;                                                     // serialises adopt()
  std::vector<std::unique_ptr<LunFile>> files_ GUARDED_BY(grow_mutex_);  // never shrinks
  // The last one is in use.
  std::vector<std::unique_ptr<Layout>> layouts_ GUARDED_BY(grow_mutex_);
  std::atomic<const Layout*> layout_{nullptr};

  Mutex flush_mutex_;
  FlushGroup flush_group_ GUARDED_BY(flush_mutex_);
  std::atomic<bool> flush_failed_{false};  // never reset

  std::atomic<bool> closing_{false};
  std::atomic<std::int64_t> outstanding_{0};  // requests whose callback has not returned

  std::unique_ptr<Engine> engine_;  // last: its threads use everything above
};

}  // namespace symnas::cvm
