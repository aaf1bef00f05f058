// dlopen() without RTLD_DEEPBIND, with which ganesha loads its plugins: a plugin bound so would
// take malloc from libc and free from the sanitizer, and the sanitizers' own dlopen() refuses it.
// Preloaded before the sanitizer's runtime.
#include <dlfcn.h>

void* dlopen(const char* file, int mode) {
  void* (*const next)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  return next(file, mode & ~RTLD_DEEPBIND);
}
