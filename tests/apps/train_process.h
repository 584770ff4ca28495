// `foregrad train` in processes of their own, with a cache and folders that are gone with the test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/base/child_process.h"

namespace fg::cli {

using Json = nlohmann::json;

// Small enough for a thousand steps in a few seconds, with dropout, whose numbers go on too.
inline const std::string kSmallModel = " --layers 1 --width 16 --heads 2 --dropout 0.2";
inline const std::string kSmall = kSmallModel + " --context 8 --batch 2 --no-report";

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A running command; its output goes to a file, so that it never waits for a reader.
class Process {
 public:
  Process(const std::string& command, std::string output) : output_(std::move(output)) {
    std::filesystem::remove(output_);  // of a process before this one
    child_ = fork();
    if (child_ != 0) return;
    int file = open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    _exit(127);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (child_ > 0) kill(child_, SIGKILL), wait();
  }
  bool running() {
    int status = 0;
    if (child_ > 0 && waitpid(child_, &status, WNOHANG) == child_) ended(status);
    return child_ > 0;
  }
  void signal(int number) const { kill(child_, number); }
  int wait() {  // the exit status, or -1 of one that a signal ended
    int status = 0;
    if (child_ > 0 && waitpid(child_, &status, 0) == child_) ended(status);
    return status_;
  }
  std::string output() const { return content_of(output_); }
  bool says(const std::string& text) const {  // waits for it
    for (int i = 0; i < 6000 && output().find(text) == std::string::npos; i++) usleep(10'000);
    return output().find(text) != std::string::npos;
  }

 private:
  void ended(int status) {
    status_ = exit_status(status);
    child_ = -1;
  }
  pid_t child_;
  int status_ = -1;
  std::string output_;
};

class TrainCommand : public testing::Test {
 protected:
  TrainCommand() {
    path_ = mkdtemp(name_);
    for (const char* folder : {"/cache", "/config"}) mkdir((path_ + folder).c_str(), 0700);
    std::string text;
    for (int i = 0; i < 300; i++) {
      text += "step " + std::to_string(i * i) + (i % 3 ? " goes on;\n" : " is “done”.\n");
    }
    std::ofstream(path_ + "/text") << text;
  }
  ~TrainCommand() override { std::filesystem::remove_all(path_); }

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoint(const std::string& out) const {
    return file(out) + "/checkpoint.safetensors";
  }
  // With the text of the test, writing to the folder `out` of the test.
  std::string command(const std::string& out, const std::string& arguments,
                      const std::string& environment = "") const {
    return "env FOREGRAD_CACHE=1 FOREGRAD_CACHE_DIR=" + file("cache") +
           " XDG_CONFIG_HOME=" + file("config") + " " + environment + " " + FOREGRAD_CLI +
           " train --out " + file(out) + " " + arguments;
  }
  std::string text() const { return " --text " + file("text"); }

  // The events of a run that ends well.
  std::vector<Json> events(const std::string& out, const std::string& arguments,
                           const std::string& environment = "") const {
    Outcome outcome = run_command(command(out, arguments + " --json", environment));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return parsed(outcome.output);
  }
  static std::vector<Json> parsed(const std::string& lines) {
    std::vector<Json> result;
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) result.push_back(Json::parse(line));
    return result;
  }
  static Json event(const std::vector<Json>& events, const std::string& name) {
    for (const Json& one : events) {
      if (one["event"] == name) return one;
    }
    ADD_FAILURE() << "no event " << name;
    return {};
  }
  // The output of a run that fails.
  std::string refusal(const std::string& out, const std::string& arguments) const {
    Outcome outcome = run_command(command(out, arguments));
    EXPECT_EQ(outcome.status, 1) << outcome.output;
    return outcome.output;
  }

 private:
  char name_[32] = "/tmp/foregrad-train-XXXXXX";
  std::string path_;
};

}  // namespace fg::cli
