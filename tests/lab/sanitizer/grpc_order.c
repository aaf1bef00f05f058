// Tells ThreadSanitizer what gRPC promises: what a thread did before it started a batch comes
// before what another does after it took the batch's tag from the completion queue. gRPC is not
// instrumented, and its own locks are none of pthread's.
//
// Takes the place of two functions of libgrpc, in programs and preloaded into ganesha.
#include <dlfcn.h>
#include <grpc/grpc.h>
#include <link.h>
#include <sanitizer/tsan_interface.h>
#include <stddef.h>
#include <string.h>

static int is_grpc(struct dl_phdr_info* library, size_t size, void* name) {
  (void)size;
  if (strstr(library->dlpi_name, "/libgrpc.so") == NULL) return 0;
  *(const char**)name = library->dlpi_name;
  return 1;
}

// ganesha loads it with the plugin, out of reach of RTLD_NEXT.
static void* in_grpc(const char* function) {
  const char* name = NULL;
  dl_iterate_phdr(is_grpc, &name);
  return dlsym(dlopen(name, RTLD_LAZY | RTLD_NOLOAD), function);
}

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag,
                                      void* reserved) {
  static __typeof__(&grpc_call_start_batch) next;
  if (__atomic_load_n(&next, __ATOMIC_RELAXED) == NULL) {
    __atomic_store_n(&next, in_grpc("grpc_call_start_batch"), __ATOMIC_RELAXED);
  }
  __tsan_release(tag);
  return next(call, ops, count, tag, reserved);
}

grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline,
                                      void* reserved) {
  static __typeof__(&grpc_completion_queue_next) next;
  if (__atomic_load_n(&next, __ATOMIC_RELAXED) == NULL) {
    __atomic_store_n(&next, in_grpc("grpc_completion_queue_next"), __ATOMIC_RELAXED);
  }
  const grpc_event event = next(queue, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) __tsan_acquire(event.tag);
  return event;
}
