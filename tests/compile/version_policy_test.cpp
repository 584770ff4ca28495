// Decisions about versions, without a function: limits, refusals, captures that are made again,
// floats that become inputs or constants.
#include "compile/version_policy.h"

#include <gtest/gtest.h>

#include "compile/counters.h"

namespace fg::compiler {

namespace {

using Kind = Decision::Kind;
using Places = std::set<size_t>;

std::string no_reason() { return "the function cannot be captured"; }
int64_t eager_calls() { return counters().eager; }

}  // namespace

TEST(VersionPolicy, CapturesUntilTheLimitIsReached) {
  VersionPolicy policy("grows", false);
  for (size_t alike = 0; alike < VersionPolicy::kMostVersions; alike++) {
    EXPECT_EQ(policy.after_miss({.alike = alike}).kind, Kind::capture);
    EXPECT_FALSE(policy.runs_eagerly());
  }
  int64_t before = eager_calls();
  Decision decision = policy.after_miss({.alike = 8, .difference = "sizes [2], not [1]"});
  EXPECT_EQ(decision.kind, Kind::eager);
  EXPECT_EQ(decision.why,
            "grows was captured 8 times and the call differs again: sizes [2], not [1]; it runs "
            "eagerly from now on");
  EXPECT_EQ(policy.refusal(), decision.why);
  EXPECT_EQ(eager_calls() - before, 1) << "the call that is refused counts";
  EXPECT_TRUE(policy.runs_eagerly());
  EXPECT_EQ(eager_calls() - before, 2) << "and so does each later one";
}

TEST(VersionPolicy, TakesAnotherLimitFromItsOwner) {
  VersionPolicy policy("grows to two", false);
  EXPECT_EQ(policy.after_miss({.alike = 1}, 2).kind, Kind::capture);
  EXPECT_EQ(policy.after_miss({.alike = 2}, 2).why,
            "grows to two was captured 2 times and the call differs again: other constants; it "
            "runs eagerly from now on");
}

TEST(VersionPolicy, LimitsDifferentConstantsToo) {
  VersionPolicy policy("has constants", false);
  EXPECT_EQ(policy.after_miss({.kinds = VersionPolicy::kMostKinds - 1}).kind, Kind::capture);
  EXPECT_EQ(policy.after_miss({.kinds = VersionPolicy::kMostKinds}).kind, Kind::eager);
}

TEST(VersionPolicy, RaisesAnErrorWhereNothingMayRunEagerly) {
  VersionPolicy policy("strict", true);
  int64_t before = eager_calls();
  Decision limit = policy.after_miss({.alike = 8, .difference = "another dtype"});
  EXPECT_EQ(limit.kind, Kind::raise);
  EXPECT_NE(limit.why.find("captured 8 times"), std::string::npos);
  EXPECT_EQ(policy.after_failure({}, {}, no_reason).kind, Kind::raise);
  EXPECT_FALSE(policy.runs_eagerly()) << "the next call tries again";
  EXPECT_EQ(eager_calls(), before);
}

TEST(VersionPolicy, RefusesAFunctionAndSaysEachReasonOnce) {
  VersionPolicy first("refused", false), second("refused", false);
  Decision decision = first.after_failure({}, {}, no_reason);
  EXPECT_EQ(decision.kind, Kind::eager);
  EXPECT_EQ(decision.why, "refused runs eagerly: the function cannot be captured");
  EXPECT_TRUE(decision.is_new);
  EXPECT_TRUE(first.runs_eagerly());
  EXPECT_FALSE(second.after_failure({}, {}, no_reason).is_new) << "an equal reason was said";
  EXPECT_TRUE(second.runs_eagerly());
}

TEST(VersionPolicy, CapturesAgainWithTheFloatsThatWereAskedForAsConstants) {
  VersionPolicy policy("asks", false);
  CaptureInputs inputs{.structure = 3, .tensors = 2, .floats = 3};
  EXPECT_EQ(policy.after_failure(inputs, {3}, no_reason).kind, Kind::again);
  EXPECT_EQ(policy.constants(3), Places{1});
  EXPECT_EQ(policy.after_failure(inputs, {3}, no_reason).kind, Kind::again)
      << "the second input is the third float now";
  EXPECT_EQ(policy.constants(3), (Places{1, 2}));
  EXPECT_EQ(policy.constants(4), Places{}) << "another structure";
  EXPECT_EQ(policy.after_failure(inputs, {}, no_reason).kind, Kind::again);
  EXPECT_EQ(policy.constants(3), (Places{0, 1, 2}));
  EXPECT_EQ(policy.after_failure(inputs, {}, no_reason).kind, Kind::eager) << "none is left";
}

TEST(VersionPolicy, MakesAllFloatsConstantsIfNoneOfThemWasAskedFor) {
  VersionPolicy policy("fails", false);
  EXPECT_TRUE(policy.learn({.tensors = 1, .floats = 2}, {}));
  EXPECT_EQ(policy.constants(0), (Places{0, 1}));
  EXPECT_FALSE(policy.learn({.tensors = 1, .floats = 2}, {}));
  EXPECT_FALSE(policy.learn({.tensors = 1}, {}));
}

TEST(VersionPolicy, MakesFloatsThatChangeInputsUnlessTheyAreAskedFor) {
  VersionPolicy policy("reads", false);
  policy.after_miss({.alike = 1, .changed = {5, 7}});
  EXPECT_EQ(policy.moving(), (Places{5, 7}));
  CaptureInputs inputs{.tensors = 1, .floats = 1, .moving = {7, 5}};
  EXPECT_TRUE(policy.learn(inputs, {2}));
  EXPECT_EQ(policy.moving(), Places{5});
  policy.after_miss({.alike = 2, .changed = {7}});
  EXPECT_EQ(policy.moving(), Places{5}) << "its value was asked for";
  EXPECT_TRUE(policy.learn({.tensors = 1, .floats = 1, .moving = {5}}, {1}));
  EXPECT_EQ(policy.constants(0), Places{0}) << "an argument was asked for";
  EXPECT_EQ(policy.moving(), Places{5});
  EXPECT_TRUE(policy.learn({.tensors = 1, .floats = 1, .moving = {5}}, {}));
  EXPECT_EQ(policy.moving(), Places{}) << "a failure with no reason";
}

TEST(VersionPolicy, LearnsFromInputsThatItDoesNotKnow) {
  VersionPolicy policy("lifts", false);
  EXPECT_TRUE(policy.learn({.tensors = 1, .floats = 2}, {9}));
  EXPECT_EQ(policy.constants(0), (Places{0, 1}));
  policy.after_miss({.changed = {4}});
  EXPECT_TRUE(policy.learn({.tensors = 1, .floats = 2, .moving = {4}}, {9}));
  EXPECT_EQ(policy.moving(), Places{});
}

TEST(VersionPolicy, AllowsAFewCapturesThatFillACache) {
  VersionPolicy policy("fills", false);
  for (size_t i = 0; i < VersionPolicy::kMostRefills; i++) EXPECT_TRUE(policy.allows_refill());
  EXPECT_FALSE(policy.allows_refill());
}

TEST(VersionPolicy, ForgetsAllThatItLearned) {
  VersionPolicy policy("forgets", false);
  policy.after_miss({.changed = {1}});
  policy.learn({.moving = {1}}, {0});
  policy.learn({.floats = 1}, {});
  while (policy.allows_refill()) {
  }
  policy.after_failure({}, {}, no_reason);
  policy.forget();
  EXPECT_FALSE(policy.runs_eagerly());
  EXPECT_EQ(policy.constants(0), Places{});
  EXPECT_TRUE(policy.allows_refill());
  policy.after_miss({.changed = {1}});
  EXPECT_EQ(policy.moving(), Places{1});
}

}  // namespace fg::compiler
