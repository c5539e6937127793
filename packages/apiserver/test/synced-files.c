/*
 * Loaded before the C library (LD_PRELOAD): a file layer that keeps only what was synced. Each fsync or fdatasync of a file in the
 * folder $SYNCED_FROM copies the file, as it is then, to the folder $SYNCED_TO. What is there after the process was killed is what
 * a machine would find after it lost its power, having written nothing that it was not asked to.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void keep(int fd) {
  const char *from = getenv("SYNCED_FROM"), *to = getenv("SYNCED_TO");
  char link[64], path[PATH_MAX], draft[PATH_MAX], target[PATH_MAX], block[65536];
  if (!from || !to) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  struct stat info;
  if (strncmp(path, from, strlen(from)) != 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
  snprintf(target, sizeof target, "%s/%s", to, strrchr(path, '/') + 1);
  snprintf(draft, sizeof draft, "%s.draft", target);
  int copy = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (copy < 0) abort();
  for (off_t at = 0;;) {
    ssize_t read = pread(fd, block, sizeof block, at);
    if (read <= 0) break;
    if (write(copy, block, read) != read) abort();
    at += read;
  }
  close(copy);
  /* In one step: the process may be killed at any moment. */
  if (rename(draft, target) != 0) abort();
}

int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  int result = real(fd);
  if (result == 0) keep(fd);
  return result;
}

int fdatasync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  int result = real(fd);
  if (result == 0) keep(fd);
  return result;
}
