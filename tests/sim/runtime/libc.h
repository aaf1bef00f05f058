// The libc functions behind the interposed ones.
#pragma once

#include <pthread.h>
#include <time.h>

namespace symnas::sim::libc {

long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0);
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                   void* argument);

}  // namespace symnas::sim::libc
