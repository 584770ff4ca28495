#include "ops/elementwise/require.h"

#include <algorithm>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/view/view_kind.h"

namespace fg {

namespace ops {

// A message as a parameter: quoted in the text of a graph, without quotes of its own.
struct Message {
  std::string text;
  bool operator==(const Message&) const = default;
};
void print_field(std::string& out, const Message& message) { out += '"' + message.text + '"'; }
void parse_field(ir::TextReader& in, Message& message) { message.text = in.quoted(); }

}  // namespace ops

using namespace ir;

namespace {

struct Requirement {
  ops::Message message;
  bool operator==(const Requirement&) const = default;
};
void refuse_false(const Tensor& values, const Requirement& p) {
  Tensor all = kernels::as_contiguous(values);
  const bool* first = all.data_ptr<bool>();
  if (std::find(first, first + all.numel(), false) == first + all.numel()) return;
  fail(ErrorKind::value, "{}", p.message.text);
}
const Registered require_true_p = ops::checked<Requirement, refuse_false>("require_true");

const auto require_true_entry =
    define(_require_true, "Self itself, after a check that each of its elements is true.",
           [](const Tensor& self, const std::string& message) {
             std::string plain = message;
             std::replace(plain.begin(), plain.end(), '"', '\'');
             std::replace(plain.begin(), plain.end(), '\n', ' ');
             std::replace(plain.begin(), plain.end(), '\\', '/');
             return require_true_p.with({{plain}}, to(self, kBool));
           })
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{ones({3}, kBool), std::string("never")}}}; });

}  // namespace
}  // namespace fg
