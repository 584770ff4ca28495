// Running Graphviz.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/environment.h"
#include "base/fail.h"
#include "ir/picture.h"

extern char** environ;

namespace fg::ir {

namespace {

// A file without a name: a child that reads one and writes another cannot block on a full pipe.
class Scratch {
 public:
  Scratch() : descriptor_(memfd_create("foregrad", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail("svg: no memory for a scratch file: {}", std::strerror(errno));
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { close(descriptor_); }
  int descriptor() const { return descriptor_; }

  void fill(std::string_view text) const {
    while (!text.empty()) {
      ssize_t count = ::write(descriptor_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail("svg: writing a scratch file failed: {}", std::strerror(errno));
      text.remove_prefix(static_cast<size_t>(count));
    }
    lseek(descriptor_, 0, SEEK_SET);
  }
  std::string content() const {
    std::string out;
    char buffer[1 << 14];
    lseek(descriptor_, 0, SEEK_SET);
    for (ssize_t count; (count = ::read(descriptor_, buffer, sizeof(buffer))) != 0;) {
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("svg: reading a scratch file failed: {}", std::strerror(errno));
      out.append(buffer, static_cast<size_t>(count));
    }
    return out;
  }

 private:
  int descriptor_;
};

using Clock = std::chrono::steady_clock;

// As waitpid; a child that is still there at `end` is ended.
pid_t wait_until(pid_t child, int& status, Clock::time_point end) {
  while (Clock::now() < end) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended != 0) return ended;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  return waitpid(child, &status, 0);
}

// Whether it ended well.
bool run_dot(const Scratch& input, const Scratch& output, const Scratch& errors,
             Clock::time_point end) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  char command[] = "dot", option[] = "-Tsvg";
  char* arguments[] = {command, option, nullptr};
  pid_t child;
  int refused = posix_spawnp(&child, command, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refused) {
    fail(
        "svg: Graphviz's program 'dot' cannot be started ({}); install Graphviz (the Debian "
        "package graphviz), or take dot() and draw it elsewhere",
        std::strerror(refused));
  }
  int status = 0;
  while (wait_until(child, status, end) < 0) {
    if (errno != EINTR) return true;  // other code took the status; the output will tell
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string svg(const Graph& graph, double seconds) {
  if (has_foreign_rights()) {  // PATH is that user's
    fail("svg: a program with more rights than its user starts no others; take dot()");
  }
  Scratch input, output, errors;
  input.fill(dot(graph));
  std::chrono::duration<double> limit(seconds);
  auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  bool well = run_dot(input, output, errors, seconds > 0 ? end : Clock::time_point::max());
  if (!well && seconds > 0 && Clock::now() >= end) {
    fail("svg: Graphviz's program 'dot' takes longer than {} s for {} operations; draw fewer",
         seconds, graph.operations.size());
  }
  std::string result = output.content();
  if (!well || result.empty()) fail("svg: Graphviz's program 'dot' failed: {}", errors.content());
  return result;
}

}  // namespace fg::ir
