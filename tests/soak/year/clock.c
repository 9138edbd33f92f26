/* A clock that is MOVED_CLOCK seconds off, of all processes that have this loaded (LD_PRELOAD), and
   with it the times of files that were touched since MOVED_SINCE. libfaketime leaves those of
   programs with 64-bit offsets, as Python, where they are. A file's time of status becomes that of
   its content, since Clock.advance changes it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t off, since;

static time_t given(const char *name) {
  const char *text = getenv(name);
  return text ? (time_t)atoll(text) : 0;
}

__attribute__((constructor)) static void begin(void) {
  off = given("MOVED_CLOCK");
  since = given("MOVED_SINCE");
}

int clock_gettime(clockid_t id, struct timespec *at) {
  int failed = (int)syscall(SYS_clock_gettime, id, at);
  if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += off;
  return failed;
}

int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}

static int moved(int failed, struct stat *found) {
  if (!failed && found->st_ctim.tv_sec >= since) {
    found->st_atim.tv_sec += off;
    found->st_mtim.tv_sec += off;
    found->st_ctim = found->st_mtim;
  }
  return failed;
}

int fstatat(int folder, const char *path, struct stat *found, int flags) {
  return moved((int)syscall(SYS_newfstatat, folder, path, found, flags), found);
}
int fstat(int file, struct stat *found) { return moved((int)syscall(SYS_fstat, file, found), found); }
int stat(const char *path, struct stat *found) { return fstatat(AT_FDCWD, path, found, 0); }
int lstat(const char *path, struct stat *found) {
  return fstatat(AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one form of a file's status");
int fstatat64(int folder, const char *path, struct stat64 *found, int flags) {
  return fstatat(folder, path, (struct stat *)found, flags);
}
int fstat64(int file, struct stat64 *found) { return fstat(file, (struct stat *)found); }
int stat64(const char *path, struct stat64 *found) { return stat(path, (struct stat *)found); }
int lstat64(const char *path, struct stat64 *found) { return lstat(path, (struct stat *)found); }

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *found) {
  int failed = (int)syscall(SYS_statx, folder, path, flags, mask, found);
  if (!failed && found->stx_ctime.tv_sec >= since) {
    found->stx_atime.tv_sec += off;
    found->stx_mtime.tv_sec += off;
    found->stx_ctime = found->stx_mtime;
  }
  return failed;
}
