// Runs a function in a forked child, or this very test program anew under other settings.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

struct Outcome {
  int status;  // as of exit(); -1 when a signal ended it
  std::string output;
};

inline int exit_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}

// The child's exit status. A child that hangs is ended by SIGALRM: -1.
template <class F>
int in_forked_child(const F& body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return exit_status(status);
}

inline Outcome run_command(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  Outcome outcome;
  std::array<char, 4096> block;
  for (size_t n; (n = fread(block.data(), 1, block.size(), pipe)) > 0;) {
    outcome.output.append(block.data(), n);
  }
  outcome.status = exit_status(pclose(pipe));
  return outcome;
}

// Runs one disabled test of this program in a process of its own: settings are read only once.
inline Outcome run_this_test(const std::string& settings, const std::string& test) {
  std::array<char, 4096> self{};
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) return {-1, "no /proc"};
  return run_command("env " + settings + " " + self.data() +
                     " --gtest_also_run_disabled_tests --gtest_filter=" + test);
}
