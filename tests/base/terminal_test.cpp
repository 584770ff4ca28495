#include "base/terminal.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "base/log.h"
#include "base/standard_error.h"

namespace fg {

TEST(Terminal, is_shown_text_but_nothing_that_it_would_obey) {
  EXPECT_EQ(terminal_text("plain, \tgr\u00fc\u00df\u4e2d\U0001f600\n"),
            "plain, \tgr\u00fc\u00df\u4e2d\U0001f600\n");
  EXPECT_EQ(terminal_text("\x1b[2Jred\x07\r"), "\\x1b[2Jred\\x07\\x0d");
  EXPECT_EQ(terminal_text(std::string("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(terminal_text("\u009b31m"), "\\xc2\\x9b31m") << "an escape in one character";
  EXPECT_EQ(terminal_text("\x9b\xff"), "\\x9b\\xff");
  EXPECT_EQ(terminal_text("\xe4\xb8"), "\\xe4\\xb8") << "cut off";
  EXPECT_EQ(terminal_text("\xc0\x9b\xed\xa0\x80\xf5"), "\\xc0\\x9b\\xed\\xa0\\x80\\xf5");
}

TEST(Terminal, lines_of_the_log_are_such_texts) {
  testing::internal::CaptureStderr();
  logging::write_line("cache", "\x1b]0;title\x07 of \xff");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "foregrad cache: \\x1b]0;title\\x07 of \\xff\n");
}

namespace {

// The sentence that a user gets for an exception of the standard library.
template <class F>
std::string told(const F& call) {
  try {
    call();
  } catch (const std::exception& exception) {
    return as_error(exception).what();
  }
  return "no exception";
}

}  // namespace

TEST(StandardError, is_a_sentence_and_not_the_name_of_a_function) {
  constexpr const char* kMemory = "more memory is needed than there is";
  std::vector<int> numbers(3);
  EXPECT_EQ(told([&] { numbers.insert(numbers.end(), SIZE_MAX / 8, 0); }), kMemory);
  EXPECT_EQ(told([] { throw std::bad_alloc(); }), kMemory);
  EXPECT_EQ(told([] { throw std::bad_cast(); }), "a value is of another type than expected");
  EXPECT_EQ(told([] { (void)std::filesystem::file_size("/nowhere"); }),
            "the system refuses /nowhere: No such file or directory");
  std::string ours =
      "foregrad made a mistake with a value of its own; please report what led to it";
  EXPECT_EQ(told([&] { (void)numbers.at(7); }), ours);
  EXPECT_EQ(told([] { (void)std::optional<int>().value(); }), ours);
  EXPECT_EQ(told([] { std::function<void()>()(); }), ours);
  EXPECT_EQ(told([] { throw std::runtime_error("of a user's own function"); }),
            "of a user's own function");
  EXPECT_EQ(as_error(Error(ErrorKind::index, "ours")).kind(), ErrorKind::index);
}

}  // namespace fg
