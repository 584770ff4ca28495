// The remote store: a real Redis server, one that is killed, one that is slow, one that lies.
#include "cache/remote.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "cache/bundle.h"
#include "cache/seal.h"
#include "cache/unusable.h"
#include "tests/base/child_process.h"
#include "tests/cache/redis_server.h"
#include "tests/cache/test_cache.h"
#include "tests/error_of.h"

namespace fg::cache {
namespace {

// Two machines: caches of their own, one server, one shared key.
struct Machine : TestCache {
  explicit Machine(const std::string& url, const char* shared = kSecret) {
    config().remote_url = url;
    config().remote_seconds = 2;
    with_shared_key(shared);
  }
  static constexpr const char* kSecret = "0123456789abcdef0123456789abcdef";
};

double seconds_of(const std::function<void()>& body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

#define NEED_REDIS() \
  ASSERT_TRUE(RedisServer::installed()) << "redis-server is missing; make test installs it"

}  // namespace

TEST(CacheRemote, addresses_are_understood) {
  RedisAddress plain = redis_address("redis://host");
  EXPECT_EQ(plain.host, "host");
  EXPECT_EQ(plain.port, 6379);
  EXPECT_FALSE(plain.tls);
  RedisAddress full = redis_address("rediss://me:p%40ss:w@cache.example:7000/3");
  EXPECT_TRUE(full.tls);
  EXPECT_EQ(full.user, "me");
  EXPECT_EQ(full.password, "p@ss:w");
  EXPECT_EQ(full.host, "cache.example");
  EXPECT_EQ(full.port, 7000);
  EXPECT_EQ(full.database, 3);
  EXPECT_EQ(redis_address("redis://[::1]:5").host, "::1");
  EXPECT_EQ(redis_address("redis://:secret@h").password, "secret");
}

TEST(CacheRemote, addresses_that_are_none_are_refused_without_their_password) {
  for (const char* bad :
       {"http://:secret@h", "redis://:secret@", "redis://:secret@h:x", "redis://:secret@h:99999",
        "redis://:secret@h/x", "redis://:secret%4@h", "redis://:secret@[::1", ""}) {
    std::string said = error_of([&] { redis_address(bad); });
    EXPECT_TRUE(said.starts_with("FOREGRAD_CACHE_REMOTE: ")) << bad << ": " << said;
    EXPECT_EQ(said.find("secret"), std::string::npos) << said;
  }
}

TEST(CacheRemote, what_one_machine_wrote_another_finds_and_keeps) {
  NEED_REDIS();
  RedisServer redis;
  {
    Machine here(redis.url());
    store(key("f"), entry("code"));
    EXPECT_TRUE(flush(5));
    EXPECT_EQ(stats().saved_remotely, 1u);
  }
  Machine there(redis.url());
  auto found = find(key("f"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->section("forward"), "code");
  EXPECT_EQ(stats().remote_hits, 1u);
  redis.stop();
  there.config().remote_url = "";
  EXPECT_EQ(found_code(there, key("f")), "code") << "read through into the local store";
  EXPECT_EQ(stats().local_hits, 1u);
}

TEST(CacheRemote, guards_are_looked_at_there_too) {
  NEED_REDIS();
  RedisServer redis;
  {
    Machine here(redis.url());
    store(key("f"), {{{"guard", "n > 4"}}, {}});
    store(key("f"), {{{"guard", "n <= 4"}}, {}});
    EXPECT_TRUE(flush(5));
  }
  Machine there(redis.url());
  auto small = [](const Entry& entry) { return entry.section("guard") == "n <= 4"; };
  ASSERT_TRUE(find(key("f"), small));
  EXPECT_FALSE(find(key("f"), [](const Entry&) { return false; }));
  EXPECT_EQ(stats().guard_misses, 1u);
}

TEST(CacheRemote, it_works_without_files_on_this_machine) {
  NEED_REDIS();
  RedisServer redis;
  Machine machine(redis.url());
  machine.config().local = false;
  configure(machine.config());
  EXPECT_TRUE(enabled());
  store(key("f"), entry("code"));
  EXPECT_TRUE(flush(5));
  EXPECT_EQ(found_code(machine, key("f")), "code");
  EXPECT_FALSE(std::filesystem::exists(machine.config().directory));
}

TEST(CacheRemote, users_passwords_and_databases_are_used) {
  NEED_REDIS();
  RedisServer redis({"--requirepass", "s3cret"});
  {
    Machine machine(redis.url(":s3cret@", "/2"));
    store(key("f"), entry("code"));
    EXPECT_TRUE(flush(5));
    EXPECT_TRUE(stats().failures.empty());
  }
  Machine right(redis.url("default:s3cret@", "/2"));
  EXPECT_TRUE(find(key("f")));
  Machine other(redis.url("default:s3cret@", "/1"));
  EXPECT_FALSE(find(key("f")));
  EXPECT_TRUE(stats().failures.empty());
  Machine wrong(redis.url(":guess@"));
  testing::internal::CaptureStderr();
  EXPECT_FALSE(find(key("f")));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(stats().failures.at("remote failed"), 1u);
  EXPECT_NE(said.find("the server says: WRONGPASS"), std::string::npos) << said;
}

TEST(CacheRemote, tls_checks_the_certificate) {
  NEED_REDIS();
  ASSERT_TRUE(TlsRedisServer::installed()) << "openssl is missing; make test installs it";
  TlsRedisServer redis;
  setenv("SSL_CERT_FILE", redis.certificate().c_str(), 1);
  {
    Machine machine(redis.url());
    store(key("f"), entry(std::string(300000, 'x')));
    EXPECT_TRUE(flush(5));
    EXPECT_EQ(stats().saved_remotely, 1u);
  }
  Machine there(redis.url());
  EXPECT_TRUE(find(key("f")));
  setenv("SSL_CERT_FILE", "/dev/null", 1);
  Machine distrustful(redis.url());
  testing::internal::CaptureStderr();
  EXPECT_FALSE(find(key("f")));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("TLS: self-signed certificate"), std::string::npos) << said;
  unsetenv("SSL_CERT_FILE");
}

TEST(CacheRemote, without_a_shared_key_it_is_off_and_says_the_remedy) {
  TestCache cache;
  cache.config().remote_url = "redis://127.0.0.1:1";
  configure(cache.config());
  testing::internal::CaptureStderr();
  EXPECT_FALSE(find(key("f")));
  store(key("f"), entry("code"));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("the remote cache needs a shared key: make one with"), std::string::npos)
      << said;
  EXPECT_EQ(stats().failures.at("no shared key"), 2u);
  EXPECT_EQ(found_code(cache, key("f")), "code") << "the local store works";
}

TEST(CacheRemote, entries_of_another_secret_are_not_taken) {
  NEED_REDIS();
  RedisServer redis;
  {
    Machine stranger(redis.url(), "another secret of 32 characters!");
    store(key("f"), entry("evil"));
    EXPECT_TRUE(flush(5));
  }
  Machine machine(redis.url());
  EXPECT_FALSE(find(key("f")));
  EXPECT_EQ(stats().failures.at("not authentic"), 1u);
  EXPECT_EQ(machine.store().list().size(), 0u) << "nothing is written unverified";
}

TEST(CacheRemote, a_killed_server_is_a_miss_and_is_found_again) {
  NEED_REDIS();
  RedisServer redis;
  Machine machine(redis.url());
  store(key("f"), entry("code"));
  EXPECT_TRUE(flush(5));
  redis.stop();
  double seconds = seconds_of([] { EXPECT_FALSE(find(key("g"))); });
  EXPECT_LT(seconds, 3);
  EXPECT_EQ(stats().failures.at("remote failed"), 1u);
  seconds = seconds_of([] {
    for (int i = 0; i < 20; i++) EXPECT_FALSE(find(key("other " + std::to_string(i))));
  });
  EXPECT_LT(seconds, 0.4) << "it is not asked while it rests";
  redis.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  store(key("h"), entry("after"));
  EXPECT_TRUE(flush(5));
  EXPECT_EQ(stats().saved_remotely, 2u);
  Machine there(redis.url());
  EXPECT_TRUE(find(key("h")));
}

TEST(CacheRemote, what_was_made_while_the_server_was_away_is_sent_when_it_is_back) {
  NEED_REDIS();
  RedisServer redis;
  Machine machine(redis.url());
  redis.stop();
  store(key("f"), entry("code"));
  double seconds = seconds_of([] { EXPECT_FALSE(flush(30)); });
  EXPECT_LT(seconds, 5) << "nobody waits for a server that is away";
  redis.start();
  for (int i = 0; i < 100 && stats().saved_remotely == 0; i++) usleep(50000);
  EXPECT_EQ(stats().saved_remotely, 1u);
  Machine there(redis.url());
  EXPECT_TRUE(find(key("f")));
}

TEST(CacheRemote, a_connection_that_the_server_closed_is_opened_anew) {
  NEED_REDIS();
  RedisServer redis;
  Machine machine(redis.url());
  EXPECT_FALSE(find(key("f")));
  redis.stop();
  redis.start();
  EXPECT_FALSE(find(key("g")));
  EXPECT_TRUE(stats().failures.empty());
}

TEST(CacheRemote, a_server_that_does_not_answer_costs_the_limit_once) {
  FakeServer silent([](int) { std::this_thread::sleep_for(std::chrono::seconds(3)); });
  Machine machine(silent.url());
  machine.config().remote_seconds = 0.2;
  configure(machine.config());
  double seconds = seconds_of([] { EXPECT_FALSE(find(key("f"))); });
  EXPECT_GE(seconds, 0.15);
  EXPECT_LT(seconds, 1.5);
  EXPECT_LT(seconds_of([] { EXPECT_FALSE(find(key("g"))); }), 0.1);
  EXPECT_EQ(stats().failures.at("remote failed"), 1u);
}

TEST(CacheRemote, a_server_that_answers_byte_by_byte_is_cut_off) {
  FakeServer slow([](int socket) {
    std::string reply = "*2\r\n$1\r\na\r\n$1000\r\n" + std::string(1000, 'x');
    for (char c : reply) {
      if (write(socket, &c, 1) < 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  Machine machine(slow.url());
  machine.config().remote_seconds = 0.3;
  configure(machine.config());
  double seconds = seconds_of([] { EXPECT_FALSE(find(key("f"))); });
  EXPECT_LT(seconds, 1.5);
  EXPECT_EQ(stats().failures.at("remote failed"), 1u);
}

TEST(CacheRemote, a_server_that_lies_is_a_miss) {
  for (const char* reply : {"nonsense\r\n", "*2000000000\r\n", "*2\r\n*2000000000\r\n", "$-1\r\n",
                            ":5\r\n", "*1\r\n$1\r\na\r\n", "$99999999999999999999\r\n",
                            "*2\r\n$1\r\na\r\n$4\r\nevil\r\n", "-ERR no\r\n", "*-1\r\n"}) {
    FakeServer liar([&](int socket) {
      if (write(socket, reply, strlen(reply)) < 0) return;
    });
    Machine machine(liar.url());
    machine.config().remote_seconds = 0.5;
    configure(machine.config());
    EXPECT_FALSE(find(key("f"))) << reply;
    EXPECT_EQ(stats().misses, 1u) << reply;
  }
}

TEST(CacheRemote, what_a_server_says_steers_no_terminal) {
  FakeServer rude([&](int socket) {
    const char reply[] = "-ERR \x1b]0;owned\x07 \x9b\x7f\r\n";
    if (write(socket, reply, sizeof(reply) - 1) < 0) return;
  });
  Machine machine(rude.url());
  testing::internal::CaptureStderr();
  EXPECT_FALSE(find(key("f")));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("the server says: ERR ?]0;owned? ??"), std::string::npos) << said;
  for (char c : said) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127)) << said;
}

TEST(CacheRemote, lists_in_lists_without_end_are_refused) {
  std::string nested;
  for (int i = 0; i < 200000; i++) nested += "*1\r\n";
  FakeServer liar([&](int socket) {
    if (write(socket, nested.data(), nested.size()) < 0) return;
  });
  Machine machine(liar.url());
  EXPECT_FALSE(find(key("f")));
  EXPECT_EQ(stats().failures.at("remote failed"), 1u);
}

namespace {

// Hands out an authentic entry under a name that is a path.
struct Renaming : RemoteServer {
  explicit Renaming(std::string sealed) : sealed_(std::move(sealed)) {}
  std::vector<RemoteValue> get(const std::string&) override {
    return {{"../../../../escaped", sealed_}};
  }
  void put(const std::string&, const std::string&, std::string_view) override {}
  std::string sealed_;
};

}  // namespace

TEST(CacheRemote, the_name_of_an_entry_is_of_its_content_and_not_what_the_server_says) {
  Digest address = key("f").digest();
  std::string content = pack(key("f"), entry("code"));
  Header header = seal(content, address, digest("s"));
  Remote remote([&] { return std::make_unique<Renaming>(std::string(bytes_of(header)) + content); },
                digest("s"), {[](const std::exception&) {}, [] {}});
  std::string name;
  EXPECT_TRUE(remote.visit(address, [&](const Candidate& found) {
    name = found.name;
    return true;
  }));
  EXPECT_EQ(name, name_of(entry("code")));
}

namespace {

// A store in memory that counts, for what is hard to see from outside.
struct Counting : RemoteServer {
  explicit Counting(int& asked) : asked_(asked) {}
  std::vector<RemoteValue> get(const std::string&) override {
    asked_++;
    return {};
  }
  void put(const std::string&, const std::string&, std::string_view) override {}
  int& asked_;
};

}  // namespace

TEST(CacheRemote, what_it_does_not_have_is_asked_for_once) {
  int asked = 0;
  Remote remote([&] { return std::make_unique<Counting>(asked); }, digest("s"),
                {[](const std::exception&) {}, [] {}});
  auto never = [](const Candidate&) { return false; };
  for (int i = 0; i < 5; i++) EXPECT_FALSE(remote.visit(key("f").digest(), never));
  EXPECT_EQ(asked, 1);
  remote.write_later(key("f").digest(), "name", Bytes("content"));
  EXPECT_TRUE(remote.flush(5));
  EXPECT_FALSE(remote.visit(key("f").digest(), never));
  EXPECT_EQ(asked, 2) << "what was written since may be there";
}

TEST_CHILD(CacheRemote, stores_and_ends) {
  store(key("f"), entry("code"));  // and main returns at once
}

TEST(CacheRemote, a_program_that_ends_at_once_still_sends_its_entries) {
  NEED_REDIS();
  RedisServer redis;
  Machine machine(redis.url());
  auto ran = run_child("CacheRemote.stores_and_ends",
                       "FOREGRAD_CACHE=remote FOREGRAD_CACHE_REMOTE=" + redis.url() +
                           " FOREGRAD_CACHE_KEY=" + machine.config().shared_key);
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_TRUE(find(key("f")));
  EXPECT_EQ(stats().remote_hits, 1u);
}

TEST(CacheRemote, a_forked_child_has_a_connection_and_a_writer_of_its_own) {
  NEED_REDIS();
  RedisServer redis;
  Machine machine(redis.url());
  store(key("f"), entry("parent"));
  EXPECT_TRUE(flush(5));
  EXPECT_FALSE(find(key("not there")));
  EXPECT_EQ(in_forked_child([] {
              store(key("g"), entry("child"));
              if (!flush(5)) _exit(1);
            }),
            0);
  store(key("h"), entry("parent"));
  EXPECT_TRUE(flush(5));
  Machine there(redis.url());
  EXPECT_TRUE(find(key("f")) && find(key("g")) && find(key("h")));
}

}  // namespace fg::cache
