// Stopped, killed and resumed trainings end as uninterrupted ones do, bit for bit.
#include <foregrad/foregrad.h>

#include <chrono>
#include <random>

#include "tests/apps/train_process.h"
#include "tests/error_of.h"

namespace fg::cli {
namespace {

using Clock = std::chrono::steady_clock;

class Resumed : public TrainCommand {
 protected:
  std::string arguments(int steps, int every = 7) const {
    return text() + kSmall + " --no-compare --checkpoint-every " + std::to_string(every) +
           " --steps " + std::to_string(steps);
  }
  // The checkpoint of an uninterrupted training of that many steps.
  std::string uninterrupted(int steps) const {
    events("whole", arguments(steps));
    return content_of(checkpoint("whole"));
  }
};

// Rows of issue 7's proof: kill -9 at random moments, 20 times.
TEST_F(Resumed, kill_9_at_random_moments_20_times) {
  constexpr int kSteps = 200, kKills = 20;
  uninterrupted(kSteps);  // compiles: all others find it in the cache
  auto began = Clock::now();
  std::string whole = uninterrupted(kSteps);
  double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> delay(0, 0.5 * seconds);
  int kills = 0, finished = 0, resumed = 0;
  while (kills < kKills || finished == 0) {
    std::string out = "killed" + std::to_string(finished);
    bool known = std::filesystem::exists(checkpoint(out));
    resumed += known;
    Process process(
        command(out, known ? "--resume --no-report --checkpoint-every 7" : arguments(kSteps)),
        file("output"));
    if (kills < kKills) usleep(static_cast<useconds_t>(1e6 * delay(random)));
    bool kill = kills < kKills && process.running();
    if (kill) process.signal(SIGKILL);
    if (kill && process.wait() == -1) {  // not one that ended before the signal came
      kills++;
      continue;
    }
    // One that was killed after its last step has nothing left to do.
    ASSERT_TRUE(process.wait() == 0 || has(process.output(), " has done 200 of 200 steps already"))
        << process.output();
    EXPECT_EQ(content_of(checkpoint(out)), whole);
    for (const auto& entry : std::filesystem::directory_iterator(file(out))) {
      EXPECT_EQ(entry.path().filename(), "checkpoint.safetensors") << "nothing else is left";
    }
    finished++;
  }
  EXPECT_GT(resumed, 5) << "of " << kills << " kills";
}

// The last event of a training that a signal stopped; one that was done too early runs again.
Json stopped_by(int signal, const std::string& command, const std::string& output) {
  for (int i = 0; i < 5; i++) {
    Process process(command + " --json", output);
    EXPECT_TRUE(process.says("\"progress\""));
    process.signal(signal);
    int status = process.wait();
    if (status == 0) continue;
    EXPECT_EQ(status, 128 + signal) << process.output();
    std::string said = process.output();
    return Json::parse(said.substr(said.rfind("{\"event\":\"stopped\"")));
  }
  ADD_FAILURE() << "it was always done before the signal";
  return {};
}

// Stops a training by a signal and resumes it with the command that it printed.
void stop_and_resume(const std::string& command, const std::string& output, int signal) {
  Json stopped = stopped_by(signal, command, output);
  EXPECT_GT(stopped["step"], 0);
  EXPECT_LT(stopped["step"], stopped["steps"]);
  Outcome resumed = run_command(stopped["resume"].get<std::string>() + " --no-report --json");
  EXPECT_EQ(resumed.status, 0) << resumed.output;
  Json begin = Json::parse(resumed.output.substr(0, resumed.output.find('\n')));
  EXPECT_EQ(begin["step"], stopped["step"]);
}

TEST_F(Resumed, ctrl_c_and_sigterm_leave_a_checkpoint_and_say_how_to_go_on) {
  constexpr int kSteps = 3000;
  for (int signal : {SIGINT, SIGTERM}) {
    std::string out = "stopped" + std::to_string(signal);
    std::string seldom = arguments(kSteps, 1000);
    stop_and_resume(command(out, seldom), file("output"), signal);
    if (signal != SIGINT) continue;
    events("whole", seldom);
    SafeTensorsFile whole(checkpoint("whole")), parts(checkpoint(out));
    EXPECT_EQ(whole.metadata().at("generator.offset"), parts.metadata().at("generator.offset"));
    for (const auto& item : whole.entries()) {
      if (item.key().starts_with("curve.validation")) continue;  // at other steps
      EXPECT_TRUE(equal(whole.read(item.key()), parts.read(item.key()))) << item.key();
    }
  }
}

TEST_F(Resumed, people_are_told_how_to_go_on) {
  Process process(command("a", arguments(100'000'000)), file("output"));
  ASSERT_TRUE(process.says("loss"));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130);
  EXPECT_HAS(process.output(), "; the checkpoint is written. To go on:\n  ");
  EXPECT_HAS(process.output(), " train --resume " + checkpoint("a") + "\n");
  std::string again = run_command(command("a", arguments(1))).output;
  EXPECT_HAS(again, "starts anew: " + checkpoint("a") + " of step ");
  EXPECT_HAS(again, " of 100000000 will be replaced; ");
}

TEST_F(Resumed, a_finished_training_goes_on_only_to_more_steps) {
  uninterrupted(14);
  EXPECT_EQ(refusal("whole", "--resume"),
            "foregrad: train: " + checkpoint("whole") +
                " has done 14 of 14 steps already; give more with --steps, as --steps 28\n");
  EXPECT_HAS(refusal("whole", "--resume --steps 10"), " has done 14 of 10 steps already; ");
  std::vector<Json> more = events("whole", "--resume --no-report --steps 20");
  EXPECT_EQ(event(more, "begin")["step"], 14);
  EXPECT_EQ(more.back()["step"], 20);
}

TEST_F(Resumed, is_found_in_its_folder_and_stays_there) {
  uninterrupted(14);
  std::string program = std::string("env FOREGRAD_CACHE=0 ") + FOREGRAD_CLI + " train --no-report ";
  EXPECT_EQ(run_command(program + "--resume " + file("whole") + " --steps 15").status, 0);
  EXPECT_EQ(run_command(program + "--resume " + checkpoint("whole") + " --steps 16").status, 0);
  EXPECT_EQ(SafeTensorsFile(checkpoint("whole")).metadata().at("step"), "16");
  EXPECT_EQ(run_command(program + "--resume " + file("whole") + " --steps 17 --out " + file("new"))
                .status,
            0);
  EXPECT_EQ(SafeTensorsFile(checkpoint("whole")).metadata().at("step"), "16");
  EXPECT_EQ(SafeTensorsFile(checkpoint("new")).metadata().at("step"), "17");
}

TEST_F(Resumed, other_sizes_and_other_texts_are_refused_by_name) {
  uninterrupted(7);
  EXPECT_EQ(refusal("whole", "--resume --width 32 --steps 20"),
            "foregrad: train: --width 32 does not fit " + checkpoint("whole") +
                ", which was trained with --width 16; leave it out, or start anew without "
                "--resume\n");
  EXPECT_HAS(refusal("whole", "--resume --lr 1 --steps 20"), "trained with --lr 0.00");
  EXPECT_HAS(refusal("whole", "--resume --seed 5 --steps 20"), "trained with --seed 0; ");
  std::ofstream(file("other")) << content_of(file("text")) << "!";
  std::string said = refusal("whole", "--resume --steps 20 --text " + file("other"));
  EXPECT_HAS(said, checkpoint("whole") + " was trained on " + file("text") + " with the digest ");
  EXPECT_HAS(said, ", and " + file("other") + " has the digest ");
  std::vector<Json> same = events("whole", "--resume --no-report --steps 20 --width 16" + text());
  EXPECT_EQ(same.back()["step"], 20);
}

TEST_F(Resumed, damaged_checkpoints_are_refused) {
  std::string whole = uninterrupted(7), path = checkpoint("whole");
  auto said = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return refusal("whole", "--resume --steps 20");
  };
  std::string begin = "foregrad: train: the checkpoint " + path + " cannot be used: ";
  std::string end = "; start anew without --resume\n";
  EXPECT_EQ(said(whole.substr(0, whole.size() - 1)).find(begin), 0u);
  EXPECT_EQ(said("").find(begin), 0u);
  std::mt19937 random(3);
  for (int i = 0; i < 12; i++) {  // anywhere: in the header or in tensors
    std::string bytes = whole;
    size_t place = i < 4 ? 100 + 40 * static_cast<size_t>(i) : random() % bytes.size();
    bytes[place] = static_cast<char>(bytes[place] ^ 1);
    std::string text = said(bytes);
    EXPECT_TRUE(text.starts_with(begin) && text.ends_with(end)) << place << ": " << text;
  }
  std::string flipped = whole;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  EXPECT_EQ(said(flipped), begin + "its digest is wrong: it was damaged" + end);
  save_safetensors({}, path, {{"step", "7"}});
  EXPECT_EQ(refusal("whole", "--resume"),
            begin + "it is no checkpoint of this version of foregrad train" + end);
  std::filesystem::remove(path);
  EXPECT_EQ(
      refusal("whole", "--resume"),
      begin + "safetensors: '" + path + "' cannot be opened: No such file or directory" + end);
}

}  // namespace
}  // namespace fg::cli
