// `foregrad train`, as a user runs it: what it computes, says, writes and refuses.
#include "tests/apps/train_process.h"
#include "tests/error_of.h"

namespace fg::cli {
namespace {

TEST_F(TrainCommand, learns_and_says_so_in_json) {
  std::vector<Json> all = events("a", text() + kSmall + " --steps 150 --lr 0.01");
  Json begin = event(all, "begin"), compared = event(all, "compared");
  EXPECT_EQ(begin["config"]["width"], 16);
  EXPECT_EQ(begin["text"], file("text"));
  EXPECT_GT(begin["vocabulary"], 20);
  EXPECT_EQ(compared["same_bits"], true);
  EXPECT_EQ(compared["eager"]["losses"], compared["compiled"]["losses"]);
  Json finished = all.back();
  EXPECT_EQ(finished["event"], "finished");
  EXPECT_EQ(finished["step"], 150);
  EXPECT_LT(finished["loss"].get<double>(), 0.8 * compared["eager"]["losses"][0].get<double>());
  EXPECT_EQ(finished["sample"].get<std::string>().empty(), false);
  EXPECT_EQ(event(all, "validated")["step"], 100);
  EXPECT_TRUE(std::filesystem::exists(checkpoint("a")));
}

// The promise of the main job: the second start compiles nothing.
TEST_F(TrainCommand, second_start_is_warm) {
  std::string arguments = text() + kSmall + " --steps 2";
  std::vector<Json> cold = events("a", arguments), warm = events("b", arguments);
  Json first = event(cold, "compared");
  EXPECT_EQ(first["start"]["how"], "compiled");
  EXPECT_EQ(first["again_start"]["how"], "found") << "the same process finds it on the disk";
  EXPECT_EQ(event(cold, "started")["start"]["how"], "found");
  Json second = event(warm, "compared");
  EXPECT_EQ(second["start"]["how"], "found");
  EXPECT_GT(second["start"]["saved_milliseconds"], 0);
  EXPECT_FALSE(second.contains("again"));
  EXPECT_EQ(cold.back()["weights"], warm.back()["weights"]);
  EXPECT_EQ(content_of(checkpoint("a")), content_of(checkpoint("b")));
  std::string people = run_command(command("c", arguments)).output;
  EXPECT_HAS(people, "this is a warm start: ");
  EXPECT_HAS(people, "the losses of eager and compiled steps are identical in bits");
}

TEST_F(TrainCommand, goes_without_the_cache_and_without_comparing) {
  std::string arguments = text() + kSmall + " --steps 2 --no-compare";
  std::vector<Json> all = events("a", arguments, "FOREGRAD_CACHE=0");
  EXPECT_EQ(event(all, "started")["start"]["how"], "uncached");
  for (const Json& one : all) EXPECT_NE(one["event"], "compared");
  std::string people = run_command(command("b", arguments)).output;
  EXPECT_HAS(people, "first step: compiled in ");
}

TEST_F(TrainCommand, one_seed_has_one_result_on_any_number_of_threads) {
  std::string arguments =
      text() + kSmallModel + " --no-compare --no-report --steps 20 --context 64 --batch 8";
  Json one = events("a", arguments + " --threads 1").back();
  Json three = events("b", arguments + " --threads 3").back();
  Json other = events("c", arguments + " --seed 1").back();
  EXPECT_EQ(one["weights"], three["weights"]);
  EXPECT_EQ(one["loss"], three["loss"]);
  EXPECT_EQ(one["sample"], three["sample"]);
  EXPECT_NE(one["weights"], other["weights"]);
}

TEST_F(TrainCommand, writes_curve_graph_and_report) {
  std::string sizes = kSmallModel + " --context 8 --batch 2 --steps 12";
  Outcome outcome = run_command(command("a", text() + sizes + " --checkpoint-every 5"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_HAS(outcome.output, "The model writes:\n  | ");
  EXPECT_HAS(outcome.output, file("a") + "/report.html\n");
  std::string page = content_of(file("a") + "/report.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  for (const char* part :
       {"class=\"curve\"", "What the model writes", "identical in bits", "compiled, cold",
        "href=\"step.html\"", "attention", "prefers-color-scheme: dark"}) {
    EXPECT_HAS(page, part);
  }
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org")) << "nothing from elsewhere";
  std::string curve = content_of(file("a") + "/loss.svg");
  EXPECT_HAS(curve, "<svg xmlns");
  EXPECT_HAS(curve, "<title>step 10: ");
  EXPECT_HAS(content_of(file("a") + "/graph.svg"), "</svg>");
  EXPECT_HAS(content_of(file("a") + "/step.html"), "Where the time goes");
}

TEST_F(TrainCommand, says_in_one_sentence_that_graphviz_is_missing_and_goes_on) {
  std::string sizes = kSmallModel + " --context 8 --batch 2 --steps 2";
  Outcome outcome = run_command(command("a", text() + sizes, "PATH=/nowhere"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_HAS(outcome.output, "There is no picture of the graph: svg: Graphviz's program 'dot'");
  EXPECT_HAS(content_of(file("a") + "/report.html"), "There is no picture of the graph");
  EXPECT_FALSE(std::filesystem::exists(file("a") + "/graph.svg"));
}

TEST_F(TrainCommand, trains_on_the_documentation_when_no_text_is_named) {
  std::vector<Json> all = events("a", kSmall + " --steps 1 --no-compare");
  EXPECT_EQ(event(all, "begin")["text"], "Foregrad's documentation");
  EXPECT_GT(event(all, "begin")["characters"], 50'000);
}

TEST_F(TrainCommand, refuses_numbers_that_make_no_sense) {
  auto said = [&](const std::string& arguments) { return refusal("a", text() + " " + arguments); };
  EXPECT_EQ(said("--layers 0"),
            "foregrad: train: --layers: got 0; expected a whole number from 1 to 1000\n");
  EXPECT_HAS(said("--steps -5"), "train: --steps: got -5; expected a whole number from 1 to ");
  EXPECT_HAS(said("--batch 0"), "train: --batch: got 0; ");
  EXPECT_HAS(said("--seed -1"), "train: --seed: got -1; expected a whole number from 0 to ");
  EXPECT_HAS(said("--threads 0"), "train: --threads: got 0; ");
  EXPECT_HAS(said("--checkpoint-every 0"), "train: --checkpoint-every: got 0; ");
  EXPECT_HAS(said("--lr 0"), "train: --lr: got 0; expected a positive number, as 0.002");
  EXPECT_HAS(said("--lr nan"), "train: --lr: got nan; ");
  EXPECT_HAS(said("--dropout 1"),
             "train: --dropout: got 1; expected a number from 0 to less than 1");
  EXPECT_EQ(said("--width 30 --heads 4"),
            "foregrad: train: --width 30 cannot be divided among --heads 4; choose a multiple of "
            "4\n");
  Outcome outcome = run_command(command("a", text() + " --layers many"));
  EXPECT_NE(outcome.status, 0);
  EXPECT_HAS(outcome.output, "--layers");
  EXPECT_FALSE(std::filesystem::exists(file("a"))) << "nothing was written";
}

TEST_F(TrainCommand, refuses_texts_that_it_cannot_learn_from) {
  EXPECT_EQ(refusal("a", "--text /nowhere/text"),
            "foregrad: train: the text: cannot read /nowhere/text: No such file or directory; "
            "--text FILE names another\n");
  std::ofstream(file("short")) << "only forty characters, which are too few";
  EXPECT_EQ(
      refusal("a", "--context 20 --text " + file("short")),
      "foregrad: train: " + file("short") +
          " has 40 characters; --context 20 needs at least 42: a window to learn from and one "
          "that is held out\n");
  std::ofstream(file("latin")) << "caf\xe9 " << std::string(500, 'x');
  EXPECT_EQ(refusal("a", "--text " + file("latin")),
            "foregrad: train: " + file("latin") +
                " is not UTF-8: byte 3 begins no character; convert it, as with iconv\n");
  for (const char* bad :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8", "\x80"}) {
    std::ofstream(file("bad")) << std::string(500, 'x') << bad << "xxxx";
    EXPECT_HAS(refusal("a", "--text " + file("bad")),
               " is not UTF-8: byte 500 begins no character");
  }
  EXPECT_HAS(refusal("a", "--text " + file("cache")), "train: the text: cannot read ");
}

TEST_F(TrainCommand, refuses_folders_that_it_cannot_write_to) {
  EXPECT_EQ(run_command(std::string(FOREGRAD_CLI) + " train --out /dev/null/a" + text()).output,
            "foregrad: train: the folder /dev/null/a cannot be written to: Not a directory; choose "
            "another with --out\n");
  Process running(command("a", text() + kSmall + " --steps 100000000 --json"), file("output"));
  ASSERT_TRUE(running.says("progress"));
  EXPECT_EQ(refusal("a", text() + kSmall),
            "foregrad: train: another training writes to the folder " + file("a") +
                "; choose another with --out\n");
}

}  // namespace
}  // namespace fg::cli
