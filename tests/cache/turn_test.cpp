// Single flight: of many processes one compiles (proved with 64), and no other one is stuck.
#include "cache/turn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cache/lookup.h"
#include "tests/base/child_process.h"
#include "tests/cache/test_cache.h"

namespace fg::cache {
namespace {

// Uses the cache as a compiler does; writes a line to `log` per compilation.
void compile(const Key& key, const std::string& log, int milliseconds) {
  Search search = find_or_take_turn(key);
  if (search.entry) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  int file = open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (write(file, "compiled\n", 9) != 9) _exit(9);
  close(file);
  store(key, entry("code"));
}

int64_t lines(const std::string& path) {
  std::string text = content_of(path);
  return std::count(text.begin(), text.end(), '\n');
}

double seconds_of(const auto& body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST(CacheTurn, of_64_processes_one_compiles) {
  TestCache cache;
  std::string log = cache.path() + "/log";
  std::vector<pid_t> children;
  for (int i = 0; i < 64; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      cache.forget_memory();
      compile(key("f"), log, 100);
      _exit(find(key("f")) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(exit_status(status), 0);
  }
  EXPECT_EQ(lines(log), 1);
  EXPECT_TRUE(std::filesystem::is_empty(cache.config().directory + "/locks"));
}

TEST(CacheTurn, of_many_threads_one_compiles) {
  TestCache cache;
  std::string log = cache.path() + "/log";
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) threads.emplace_back([&] { compile(key("f"), log, 50); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines(log), 1);
  EXPECT_EQ(stats().misses, 1u);
  EXPECT_EQ(stats().hits(), 7u);
}

TEST(CacheTurn, two_keys_do_not_wait_for_each_other) {
  TestCache cache;
  Search f = find_or_take_turn(key("f"));
  Search g = find_or_take_turn(key("g"));
  EXPECT_EQ(g.turn.state(), Turn::State::mine);
  EXPECT_FALSE(g.turn.waited());
}

TEST(CacheTurn, who_waits_too_long_compiles_alone) {
  TestCache cache;
  cache.config().wait_seconds = 0.1;
  configure(cache.config());
  Search first = find_or_take_turn(key("f"));
  double seconds = seconds_of([] {
    Search second = find_or_take_turn(key("f"));
    EXPECT_EQ(second.turn.state(), Turn::State::alone);
    EXPECT_TRUE(second.turn.waited());
  });
  EXPECT_GE(seconds, 0.1);
  EXPECT_LT(seconds, 5);
  EXPECT_EQ(stats().waited, 1u);
}

TEST(CacheTurn, who_is_killed_gives_its_turn_away) {
  TestCache cache;
  in_forked_child([&] {
    cache.forget_memory();
    Search search = find_or_take_turn(key("f"));
    raise(SIGKILL);
  });
  EXPECT_EQ(find_or_take_turn(key("f")).turn.state(), Turn::State::mine);
}

TEST(CacheTurn, a_child_does_not_keep_the_lock_of_its_killed_parent) {
  TestCache cache;
  cache.config().wait_seconds = 5;
  int alive[2];
  ASSERT_EQ(pipe(alive), 0);
  in_forked_child([&] {
    cache.forget_memory();
    Search search = find_or_take_turn(key("f"));
    if (fork() == 0) {  // lives on until the test ends
      char wait;
      close(alive[1]);
      _exit(read(alive[0], &wait, 1) < 0);
    }
    usleep(50000);  // the child has closed its copy by now
    raise(SIGKILL);
  });
  cache.forget_memory();
  double seconds =
      seconds_of([] { EXPECT_EQ(find_or_take_turn(key("f")).turn.state(), Turn::State::mine); });
  EXPECT_LT(seconds, 2);
  close(alive[0]);
  close(alive[1]);
}

TEST(CacheTurn, a_child_that_ends_does_not_release_the_lock_of_its_parent) {
  TestCache cache;
  cache.config().wait_seconds = 0.05;
  configure(cache.config());
  Search mine = find_or_take_turn(key("f"));
  EXPECT_EQ(in_forked_child([&] { mine = Search(); }), 0);
  EXPECT_EQ(in_forked_child([&] {
              if (find_or_take_turn(key("f")).turn.state() != Turn::State::alone) _exit(1);
            }),
            0);
}

TEST(CacheTurn, a_lock_is_not_handed_to_programs_that_are_started) {
  TestCache cache;
  Search mine = find_or_take_turn(key("f"));
  std::string files = run_command("ls -l /proc/self/fd").output;
  EXPECT_EQ(files.find("/locks/"), std::string::npos) << files;
}

TEST(CacheTurn, a_stale_lock_file_is_taken_over) {
  TestCache cache;
  find(key("f"));
  std::filesystem::create_directory(cache.config().directory + "/locks");
  write_content(cache.config().directory + "/locks/" + hex(address_of(key("f"))), "old");
  EXPECT_EQ(find_or_take_turn(key("f")).turn.state(), Turn::State::mine);
}

}  // namespace fg::cache
