// READ, WRITE and COMMIT. READ and WRITE are asynchronous: the RPC worker is free as soon as the
// core has the request.
#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/base/waiting.h"
#include "fsal_cluster/plugin/guarded.h"
#include "fsal_cluster/plugin/lun_pace.h"
#include "fsal_cluster/plugin/object.h"
#include "fsal_cluster/quota/exemption.h"

namespace symnas::plugin {
namespace {

// One READ or WRITE on its way through the core.
struct IoCall {
  fsal_obj_handle* handle;
  fsal_async_cb done;
  fsal_io_arg* arg;
  void* caller_arg;
  gsh_export* gsh;
  fsal_export* fsal;
};

// True while a thread of the core answers: the answer has passed the gate already, and this thread
// must not wait there.
thread_local bool t_core_answers = false;

// Answers on a thread of the core, which has no request context of its own.
void answer(const IoCall& call, fsal_status_t status) {
  cvm::MayWaitForIo::end_here();
  req_op_context context;
  get_gsh_export_ref(call.gsh);
  init_op_context_simple(&context, call.gsh, call.fsal);
  const bool nested = std::exchange(t_core_answers, true);
  call.done(call.handle, status, call.arg, call.caller_arg);
  t_core_answers = nested;
  release_op_context();
}

// Called after ganesha has made its pool (deploy/ganesha/patches/ntirpc/0009).
bool limit_busy_workers() {
  const unsigned busy =
      std::max(kBusyWorkersMin, kBusyWorkersPerCpu * std::thread::hardware_concurrency());
  set_wait_hooks({work_pool_wait_begin, work_pool_wait_end});
  if (work_pool_limit_busy(&svc_work_pool, busy) == 0) return true;
  LogWarn(COMPONENT_FSAL, "CLUSTER: busy workers are not limited: no more threads");
  return false;
}

// ganesha calls it before every reply (deploy/ganesha/patches/hooks/0004).
void before_reply() {
  [[maybe_unused]] static const bool limited = limit_busy_workers();
  if (!t_core_answers) Instance::get().pass_gates();
}

LunPace pace;

// The RPC worker itself waits for the volume, which saves two changes of thread, unless too many
// workers do so already: a LUN that hangs must not take all of them.
struct IoWait {
  IoWait() {
    if (permit) here.emplace();
    if (pace.is_slow()) waiting.emplace();
  }
  ~IoWait() {
    const std::int64_t took_ns = cvm::MayWaitForIo::waited_ns() - waited_before_ns;
    if (took_ns > 0) pace.note(took_ns);
  }
  IoWait(const IoWait&) = delete;
  IoWait& operator=(const IoWait&) = delete;
  const std::int64_t waited_before_ns = cvm::MayWaitForIo::waited_ns();
  const Admission::Permit permit{Instance::get().io_waits()};
  std::optional<cvm::MayWaitForIo> here;
  std::optional<Waiting> waiting;
};

// True when the instance has ended: then the request stays unanswered (INV-8), and the process is
// about to exit.
bool unanswerable(const Error& error) {
  return error.code == ErrorCode::kEnded || error.code == ErrorCode::kFenced ||
         error.code == ErrorCode::kShutdown;
}

void release_read_buffer(void* data) { delete static_cast<cvm::Buffer*>(data); }

void hand_out_read(fsal_io_arg* arg, fs::ReadResult result) {
  arg->io_amount = result.bytes;
  arg->end_of_file = result.end_of_file;
  if (arg->iov[0].iov_base != nullptr) {  // ganesha's core has brought its own memory (RDMA)
    if (result.bytes > 0)
      std::memcpy(arg->iov[0].iov_base, result.buffer.data() + result.offset_bytes, result.bytes);
    return;
  }
  if (!result.buffer) return;
  arg->iov[0].iov_base = result.buffer.data() + result.offset_bytes;
  arg->iov[0].iov_len = result.bytes;
  // *last_iov_buf_size stays 0: ganesha 6.5 pads in place by size % 4 bytes instead of up to a
  // multiple of 4.
  arg->iov_release = release_read_buffer;
  arg->release_data = new cvm::Buffer(std::move(result.buffer));
}

// READ_PLUS has room for one segment (deploy/ganesha/patches/nfsv4/0100): a hole when all of it is
// one, else data. The data is copied: ganesha frees it with its own allocator.
void hand_out_read_plus(fsal_io_arg* arg, const fs::ReadResult& result) {
  contents& segment = arg->info->io_content;
  arg->io_amount = result.bytes;
  arg->end_of_file = result.end_of_file;
  if (result.hole && result.bytes > 0) {
    segment.what = NFS4_CONTENT_HOLE;
    segment.hole.di_offset = arg->offset;
    segment.hole.di_length = result.bytes;
    return;
  }
  segment.what = NFS4_CONTENT_DATA;
  segment.data.d_offset = arg->offset;
  segment.data.d_data.data_len = static_cast<u_int>(result.bytes);
  segment.data.d_data.data_val = nullptr;
  if (result.bytes == 0) return;
  segment.data.d_data.data_val = static_cast<char*>(gsh_malloc(result.bytes));
  std::memcpy(segment.data.d_data.data_val, result.buffer.data() + result.offset_bytes,
              result.bytes);
}

void read2(fsal_obj_handle* handle, bool bypass, fsal_async_cb done, fsal_io_arg* arg,
           void* caller_arg) {
  Object* object = object_of(handle);
  arg->io_amount = 0;
  const auto allowed = check_deny(object, arg->state, FSAL_O_READ, bypass);
  if (FSAL_IS_ERROR(allowed)) {
    done(handle, allowed, arg, caller_arg);
    return;
  }
  const IoCall call{handle, done, arg, caller_arg, op_ctx->ctx_export, op_ctx->fsal_export};
  const IoWait wait;
  object->mount->read(object->handle, FileOffset{arg->offset}, arg->iov[0].iov_len,
                      [call](Result<fs::ReadResult> result) {
                        if (!result) {
                          if (!unanswerable(result.error())) answer(call, to_fsal(result.error()));
                          return;
                        }
                        if (call.arg->info != nullptr) {
                          hand_out_read_plus(call.arg, *result);
                        } else {
                          hand_out_read(call.arg, std::move(*result));
                        }
                        answer(call, ok_status());
                      });
}

// The data of a WRITE in one piece. It is nearly always one fragment; several are copied together
// once.
struct Gathered {
  std::vector<std::byte> copy;
  std::span<const std::byte> data;
};
std::shared_ptr<Gathered> gather(const fsal_io_arg* arg) {
  auto gathered = std::make_shared<Gathered>();
  if (arg->iov_count == 1) {
    gathered->data = {static_cast<const std::byte*>(arg->iov[0].iov_base), arg->iov[0].iov_len};
    return gathered;
  }
  for (int i = 0; i < arg->iov_count; ++i) {
    const auto* bytes = static_cast<const std::byte*>(arg->iov[i].iov_base);
    gathered->copy.insert(gathered->copy.end(), bytes, bytes + arg->iov[i].iov_len);
  }
  gathered->data = gathered->copy;
  return gathered;
}

void write2(fsal_obj_handle* handle, bool bypass, fsal_async_cb done, fsal_io_arg* arg,
            void* caller_arg) {
  Object* object = object_of(handle);
  arg->io_amount = 0;
  const auto allowed = check_deny(object, arg->state, FSAL_O_WRITE, bypass);
  if (FSAL_IS_ERROR(allowed)) {
    done(handle, allowed, arg, caller_arg);
    return;
  }
  const IoCall call{handle, done, arg, caller_arg, op_ctx->ctx_export, op_ctx->fsal_export};
  const auto wanted =
      arg->fsal_stable ? fs::WriteStability::kFileSync : fs::WriteStability::kUnstable;
  const auto gathered = gather(arg);
  const fs::QuotaExemption exemption(caller_exemption());
  const IoWait wait;
  object->mount->write(object->handle, FileOffset{arg->offset}, gathered->data, wanted,
                       [call, gathered](Result<fs::WriteResult> result) {
                         if (!result) {
                           if (!unanswerable(result.error())) answer(call, to_fsal(result.error()));
                           return;
                         }
                         call.arg->io_amount = result->bytes;
                         call.arg->fsal_stable = result->achieved != fs::WriteStability::kUnstable;
                         answer(call, ok_status());
                       });
}

// The outcome that a COMMIT waits for.
struct CommitAnswer {
  Mutex mutex;
  CondVar answered;
  bool done GUARDED_BY(mutex) = false;
  Status outcome GUARDED_BY(mutex);
};

fsal_status_t commit2(fsal_obj_handle* handle, off_t, std::size_t) {
  return guarded([&] {
    Object* object = object_of(handle);
    CommitAnswer awaited;
    object->mount->commit(object->handle, [&](Status status) {
      const MutexLock lock(awaited.mutex);
      awaited.outcome = std::move(status);
      awaited.done = true;
      awaited.answered.notify_one();
    });
    const Waiting waiting;
    const MutexLock lock(awaited.mutex);
    awaited.answered.wait(awaited.mutex, [&]() REQUIRES(awaited.mutex) { return awaited.done; });
    return awaited.outcome ? ok_status() : failed(awaited.outcome);
  });
}

}  // namespace

fsal_status_t check_deny(Object* object, const state_t* state, fsal_openflags_t access,
                         bool bypass) {
  if (state != nullptr) return ok_status();
  const auto elsewhere = check_denied_elsewhere(object, access, bypass);
  if (FSAL_IS_ERROR(elsewhere)) return elsewhere;
  const fsal_share& share = object->share;
  if (share.share_deny_read == 0 && share.share_deny_write == 0 && share.share_deny_write_mand == 0)
    return ok_status();
  PTHREAD_RWLOCK_rdlock(&object->fsal.obj_lock);
  const auto status = check_share_conflict(&object->share, access, bypass);
  PTHREAD_RWLOCK_unlock(&object->fsal.obj_lock);
  return status;
}

void set_io_operations(fsal_obj_ops& ops) {
  ops.read2 = read2;
  ops.write2 = write2;
  ops.commit2 = commit2;
  set_space_operations(ops);
}

void gate_replies() { nfs_before_reply = before_reply; }

}  // namespace symnas::plugin
