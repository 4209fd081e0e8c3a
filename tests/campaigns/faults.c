// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program, makes a chosen call of the system or of the allocator go wrong.
//
//   FAULTS_CALL    alloc, open, read, write, sync, rename, map, size or thread
//   FAULTS_NTH     which of these calls since main() began, from 1; 0 or nothing: none
//   FAULTS_DO      an errno to fail with; or kill, killafter, interrupt: what happens to the
//                  process there (killafter: once the call is done)
//   FAULTS_FOREVER if set, all calls from that one on
//   FAULTS_TRACE   if set, tells on standard error who made that call
//   FAULTS_COUNTS  a file that gets the number of calls of each kind when the program ends
//   FAULTS_CLOCK   seconds by which every look at the clock finds it later
//
// The C library does not see its own calls here; standard output is led through write() below.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ALLOC, OPEN, READ, WRITE, SYNC, RENAME, MAP, SIZE, THREAD, KINDS };
static const char* const names[KINDS] = {"alloc",  "open", "read", "write", "sync",
                                         "rename", "map",  "size", "thread"};

static atomic_long counts[KINDS], looks;
static atomic_int armed;
static int kind = -1, code, forever, trace, before, after;  // signals: before the call, after it
static long nth, clock_step;

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static void strike(int signal_number) { syscall(SYS_kill, getpid(), signal_number); }

// Whether this call is the one that fails; *then is set if the process ends behind it.
static int fails(int what, int* then) {
  if (!armed) return 0;
  const long number = ++counts[what];
  if (what != kind || nth == 0 || (forever ? number < nth : number != nth)) return 0;
  if (trace) {
    void* callers[40];
    armed = 0;
    backtrace_symbols_fd(callers, backtrace(callers, 40), STDERR_FILENO);
    armed = 1;
  }
  if (before) strike(before);
  *then = after;
  if (before || after) return 0;
  errno = code;
  return 1;
}

#define GUARDED(what, failed, type, call)  \
  do {                                     \
    int then = 0;                          \
    if (fails(what, &then)) return failed; \
    type const result = (call);            \
    if (then) strike(then);                \
    return result;                         \
  } while (0)

void* malloc(size_t n) { GUARDED(ALLOC, NULL, void*, __libc_malloc(n)); }
void* calloc(size_t n, size_t size) { GUARDED(ALLOC, NULL, void*, __libc_calloc(n, size)); }
void* realloc(void* p, size_t n) { GUARDED(ALLOC, NULL, void*, __libc_realloc(p, n)); }
void* memalign(size_t to, size_t n) { GUARDED(ALLOC, NULL, void*, __libc_memalign(to, n)); }
void* aligned_alloc(size_t to, size_t n) { GUARDED(ALLOC, NULL, void*, __libc_memalign(to, n)); }
int posix_memalign(void** out, size_t to, size_t n) {
  int then = 0;
  if (fails(ALLOC, &then)) return ENOMEM;
  void* const p = __libc_memalign(to, n);
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

static int open_at(int folder, const char* path, int flags, mode_t mode) {
  GUARDED(OPEN, -1, int, (int)syscall(SYS_openat, folder, path, flags, mode));
}
#define MODE                                              \
  va_list rest;                                           \
  va_start(rest, flags);                                  \
  const mode_t mode = (mode_t)va_arg(rest, unsigned int); \
  va_end(rest)
int open(const char* path, int flags, ...) {
  MODE;
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE;
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE;
  return open_at(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  MODE;
  return open_at(folder, path, flags, mode);
}
int mkostemp(char* name, int flags) {
  int then = 0;
  if (fails(OPEN, &then)) return -1;
  return ((int (*)(char*, int))dlsym(RTLD_NEXT, "mkostemp"))(name, flags);
}
static FILE* open_file(const char* real, const char* path, const char* mode) {
  int then = 0;
  if (fails(OPEN, &then)) return NULL;
  return ((FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, real))(path, mode);
}
FILE* fopen(const char* path, const char* mode) { return open_file("fopen", path, mode); }
FILE* fopen64(const char* path, const char* mode) { return open_file("fopen64", path, mode); }

ssize_t read(int fd, void* to, size_t n) {
  GUARDED(READ, -1, ssize_t, syscall(SYS_read, fd, to, n));
}
ssize_t pread(int fd, void* to, size_t n, off_t at) {
  GUARDED(READ, -1, ssize_t, syscall(SYS_pread64, fd, to, n, at));
}
ssize_t pread64(int fd, void* to, size_t n, off_t at) { return pread(fd, to, n, at); }

ssize_t write(int fd, const void* from, size_t n) {
  if (fd == STDERR_FILENO) return syscall(SYS_write, fd, from, n);  // remarks may get lost
  GUARDED(WRITE, -1, ssize_t, syscall(SYS_write, fd, from, n));
}
ssize_t pwrite(int fd, const void* from, size_t n, off_t at) {
  GUARDED(WRITE, -1, ssize_t, syscall(SYS_pwrite64, fd, from, n, at));
}
ssize_t pwrite64(int fd, const void* from, size_t n, off_t at) { return pwrite(fd, from, n, at); }

// Nobody cuts the power here, so nothing has to reach the disk.
int fsync(int fd) { GUARDED(SYNC, -1, int, fcntl(fd, F_GETFD) < 0 ? -1 : 0); }
int fdatasync(int fd) { return fsync(fd); }

int rename(const char* from, const char* to) {
  GUARDED(RENAME, -1, int, (int)syscall(SYS_rename, from, to));
}
int renameat(int a, const char* from, int b, const char* to) {
  GUARDED(RENAME, -1, int, (int)syscall(SYS_renameat, a, from, b, to));
}

void* mmap(void* at, size_t n, int prot, int flags, int fd, off_t offset) {
  GUARDED(MAP, MAP_FAILED, void*, (void*)syscall(SYS_mmap, at, n, prot, flags, fd, offset));
}
void* mmap64(void* at, size_t n, int prot, int flags, int fd, off_t offset) {
  return mmap(at, n, prot, flags, fd, offset);
}

int ftruncate(int fd, off_t n) { GUARDED(SIZE, -1, int, (int)syscall(SYS_ftruncate, fd, n)); }
int ftruncate64(int fd, off_t n) { return ftruncate(fd, n); }
int posix_fallocate(int fd, off_t at, off_t n) {
  int then = 0;
  if (fails(SIZE, &then)) return code;
  return syscall(SYS_fallocate, fd, 0, at, n) == 0 ? 0 : errno;
}
int posix_fallocate64(int fd, off_t at, off_t n) { return posix_fallocate(fd, at, n); }

int pthread_create(pthread_t* id, const pthread_attr_t* how, void* (*body)(void*), void* arg) {
  int then = 0;
  if (fails(THREAD, &then)) return code;
  return ((int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(
      RTLD_NEXT, "pthread_create"))(id, how, body, arg);
}

int clock_gettime(clockid_t id, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, id, now);
  if (armed && clock_step > 0) now->tv_sec += clock_step * ++looks;
  return result;
}

// A signal does not cut it short: what the program handles, it handles with SA_RESTART.
static ssize_t print(void* none, const char* from, size_t n) {
  (void)none;
  ssize_t written;
  do {
    written = write(STDOUT_FILENO, from, n);
  } while (written < 0 && errno == EINTR);
  return written;
}

static void tell_counts(void) {
  const char* const path = getenv("FAULTS_COUNTS");
  armed = 0;
  FILE* const out = path ? fopen(path, "w") : NULL;
  if (!out) return;
  for (int i = 0; i < KINDS; ++i) fprintf(out, "%s %ld\n", names[i], (long)counts[i]);
  fclose(out);
}

static void prepare(void) {
  const char *call = getenv("FAULTS_CALL"), *act = getenv("FAULTS_DO"), *n = getenv("FAULTS_NTH"),
             *step = getenv("FAULTS_CLOCK");
  for (int i = 0; call && i < KINDS; ++i) {
    if (strcmp(call, names[i]) == 0) kind = i;
  }
  nth = n ? atol(n) : 0;
  clock_step = step ? atol(step) : 0;
  forever = getenv("FAULTS_FOREVER") != NULL;
  trace = getenv("FAULTS_TRACE") != NULL;
  if (act && strcmp(act, "kill") == 0) {
    before = SIGKILL;
  } else if (act && strcmp(act, "killafter") == 0) {
    after = SIGKILL;
  } else if (act && strcmp(act, "interrupt") == 0) {
    before = SIGINT;
  } else if (act) {
    code = atoi(act);
  }
  stdout = fopencookie(NULL, "w", (cookie_io_functions_t){.write = print});
  if (getenv("FAULTS_COUNTS")) atexit(tell_counts);
}

static int (*real_main)(int, char**, char**);
static int guarded_main(int argc, char** argv, char** env) {
  prepare();
  armed = 1;
  return real_main(argc, argv, env);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*end)(void), void* stack) {
  real_main = main;
  return ((int (*)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void),
                   void (*)(void), void*))dlsym(RTLD_NEXT, "__libc_start_main"))(
      guarded_main, argc, argv, init, fini, end, stack);
}
