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

#ifdef FOREGRAD_SANITIZE
inline constexpr unsigned kMostSeconds = 300;
#else
inline constexpr unsigned kMostSeconds = 60;
#endif

// The child's exit status. A child that hangs is ended by SIGALRM: -1.
template <class F>
int in_forked_child(const F& body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return exit_status(status);
}

// The same as a user without root's rights; root becomes such a user in the child.
inline constexpr int kStillRoot = 99;
template <class F>
int in_child_without_rights(const F& body) {
  return in_forked_child([&] {
    if (geteuid() == 0 && (setgid(65534) || setuid(65534))) _exit(kStillRoot);
    body();
  });
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

// The part of a test that runs in a process of its own, for settings are read only once: it runs
// when run_child("Suite.name") asks for it and not by itself, for which gtest's word is disabled.
#define TEST_CHILD(suite, name) TEST(suite, DISABLED_##name)
#define TEST_CHILD_F(fixture, name) TEST_F(fixture, DISABLED_##name)

inline std::string this_program() {
  std::array<char, 4096> self{};
  return readlink("/proc/self/exe", self.data(), self.size() - 1) < 0 ? "no /proc" : self.data();
}

inline Outcome run_child(const std::string& test, const std::string& settings = "",
                         const std::string& program = this_program()) {
  std::string name = test;
  name.insert(name.find('.') + 1, "DISABLED_");
  return run_command("env " + settings + " " + program +
                     " --gtest_also_run_disabled_tests --gtest_filter=" + name);
}
