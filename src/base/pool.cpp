// All state is static atomics without destructors: workers may outlive main(), and the child of a
// fork sets everything back in place, needing neither a lock nor memory.
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>
#include <system_error>
#include <thread>

#include "base/fail.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/settings.h"

namespace fg::pool {

int64_t forced_grain = 0;

namespace {

constexpr int kMaxThreads = 1024;
constexpr int kChunksPerThread = 4;  // small enough to balance, large enough to be cheap
constexpr int kSpins = 10000;        // some 250 us: the gap between two ops, not an idle program

constexpr char kForkedInside[] =
    "parallel_for: a child that was forked inside a body returned from it; it must end by _exit or "
    "exec, for the work of the other threads is lost";

struct Job {
  Body body;
  int64_t count;
  int64_t chunks;
  uint32_t generation;
  int64_t threads = 1;
  std::atomic<bool> failed = false;
  std::exception_ptr error = nullptr;
  std::atomic<bool> taken[kMaxThreads * kChunksPerThread] = {};

  // Chunks differ by at most one index, so each has at least `grain` of them.
  int64_t begin(int64_t chunk) const {
    return chunk * (count / chunks) + std::min(chunk, count % chunks);
  }
};

struct alignas(64) Worker {
  std::atomic<uint32_t> signal = 0;  // changes when there may be work
};

constinit Worker workers[kMaxThreads];
constinit std::atomic<int> started = 0;          // workers that have a thread
constinit std::atomic<int> chosen = 0;           // threads to use; 0: not chosen yet
constinit std::atomic<bool> busy = false;        // a caller owns the workers
constinit std::atomic<uint32_t> generation = 0;  // forks since the program began
constinit std::atomic<bool> may_spin = true;     // spinning helps only with a core of one's own
alignas(64) constinit std::atomic<Job*> current = nullptr;
alignas(64) constinit std::atomic<int> visitors = 0;  // workers that may be looking at `current`
constinit thread_local bool inside_body = false;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  for (int i = may_spin ? kSpins : 0; i > 0; --i) {
    if (value.load() != old) return;
    relax();
  }
  value.wait(old);
}

// Each thread begins at a place of its own, so that it meets the same parts of memory again from
// job to job: its caches have them. Then it helps the others. The caller is thread 0.
void run_chunks(Job& job, int64_t thread) noexcept {
  const int64_t first = thread * job.chunks / job.threads;
  // After a failure the others stop with the chunk they have.
  for (int64_t step = 0; step < job.chunks && !job.failed; ++step) {
    const int64_t i = (first + step) % job.chunks;
    if (job.taken[i] || job.taken[i].exchange(true)) continue;
    try {
      if (thread == 0) poll_interrupt();  // only the calling thread can be interrupted
      job.body(job.begin(i), job.begin(i + 1));
    } catch (...) {
      if (!job.failed.exchange(true)) job.error = std::current_exception();
    }
  }
}

// A worker announces itself before it looks at `current`, and the caller clears `current` before
// it looks at `visitors`: either the worker sees no job or the caller waits for it.
void work(Worker& me) {
  inside_body = true;
  const uint32_t born = generation;
  for (uint32_t seen = 0;;) {
    wait_while(me.signal, seen);
    seen = me.signal;
    ++visitors;
    if (Job* job = current) run_chunks(*job, &me - workers + 1);
    if (generation != born) {  // in a child there is no caller to go back to
      logging::write_line("error", kForkedInside);
      std::abort();
    }
    if (--visitors == 0) visitors.notify_one();
  }
}

void after_fork_in_child() {
  for (Worker& worker : workers) worker.signal = 0;
  started = 0;
  busy = false;
  current = nullptr;
  visitors = 0;
  ++generation;
}

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);

// Only the owner of `busy` calls this. Fewer threads than asked for is slow, not wrong.
int start_workers(int wanted) {
  if (started >= wanted) return wanted;
  sigset_t all, before;  // a user's signals are for the user's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (; started < wanted; ++started) {
      std::thread thread(work, std::ref(workers[started]));
      pthread_setname_np(thread.native_handle(), "foregrad");
      thread.detach();
    }
    logging::write<"started, {} workers">(logging::Topic::pool, started.load());
  } catch (const std::system_error& e) {
    logging::warn_once<"thread pool: only {} of {} workers could be started: {}">(started.load(),
                                                                                  wanted, e.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

int cores() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

int num_threads() {
  if (int count = chosen) return count;
  int64_t count = settings::integer(settings::Id::num_threads);
  if (count > kMaxThreads) settings::fail_value(settings::Id::num_threads);
  set_num_threads(count != 0 ? static_cast<int>(count) : std::min(cores(), kMaxThreads));
  return chosen;
}

void set_num_threads(int count) {
  if (count < 1 || count > kMaxThreads) {
    fail(ErrorKind::value, "set_num_threads: got {}; expected 1 to {}", count, kMaxThreads);
  }
  may_spin = count <= cores();
  chosen = count;
}

void force_grain(int64_t grain) {
  if (grain < 0) fail(ErrorKind::value, "force_grain: got {}; expected 0 or more", grain);
  forced_grain = grain;
}

void parallel_for_threads(int64_t count, int64_t grain, Body body) {
  if (count <= 0) return;
  const int64_t smallest = std::max<int64_t>(forced_grain > 0 ? forced_grain : grain, 1);
  const int threads = num_threads();
  const int64_t chunks = std::min<int64_t>(count / smallest, threads * kChunksPerThread);
  if (chunks <= 1 || threads == 1 || inside_body || busy.exchange(true)) return body(0, count);

  Job job{body, count, chunks, generation};
  const int helpers = start_workers(std::min<int64_t>(threads, chunks) - 1);
  job.threads = helpers + 1;
  current = &job;
  for (int i = 0; i < helpers; ++i) {
    ++workers[i].signal;
    workers[i].signal.notify_one();
  }
  inside_body = true;
  run_chunks(job, 0);
  inside_body = false;
  current = nullptr;
  for (int left; (left = visitors) != 0;) wait_while(visitors, left);
  busy = false;
  if (job.generation != generation) raise(ErrorKind::runtime, kForkedInside);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace fg::pool
