#include "ops/matmul/einsum.h"

#include <algorithm>
#include <array>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;

namespace {

// A label is a letter by its place in A-Za-z, or behind those a dimension of the ellipsis.
constexpr int kLetters = 52;
constexpr int kEllipsis = -1;  // while it is not known how many dimensions it stands for
using Labels = std::vector<int>;
using Axes = std::vector<int64_t>;

char letter_of(int label) { return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26); }

Labels parse_term(std::string_view term, std::string_view equation) {
  Labels labels;
  for (size_t i = 0; i < term.size(); i++) {
    char c = term[i];
    if (c == ' ') continue;
    bool small = c >= 'a' && c <= 'z', large = c >= 'A' && c <= 'Z';
    if (small || large) {
      labels.push_back(small ? c - 'a' + 26 : c - 'A');
      continue;
    }
    bool fresh = std::find(labels.begin(), labels.end(), kEllipsis) == labels.end();
    if (term.substr(i, 3) != "..." || !fresh) {
      fail("einsum: '{}' has '{}' in '{}'; expected letters, and '...' at most once per operand",
           equation, c, term);
    }
    labels.push_back(kEllipsis);
    i += 2;
  }
  return labels;
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

std::vector<Labels> parse_inputs(std::string_view text, std::string_view equation) {
  std::vector<Labels> inputs;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    inputs.push_back(parse_term(text.substr(begin, end - begin), equation));
    begin = end + 1;
  }
  return inputs;
}

// Counted from the last dimension, as broadcasting counts.
void spread_ellipsis(Labels& labels, int count, int most) {
  auto place = std::find(labels.begin(), labels.end(), kEllipsis);
  if (place == labels.end()) return;
  Labels dims;
  for (int i = most - count; i < most; i++) dims.push_back(kLetters + i);
  labels.insert(labels.erase(place), dims.begin(), dims.end());
}

// How many dimensions of an operand its ellipsis stands for.
int ellipsis_of(const Labels& labels, const Tensor& operand, size_t place) {
  bool has = std::find(labels.begin(), labels.end(), kEllipsis) != labels.end();
  auto named = static_cast<int>(labels.size()) - has;
  auto dims = static_cast<int>(operand.dim());
  if (named > dims || (!has && named < dims)) {
    fail("einsum: operand {} has {} dimensions and {} subscripts{}; expected as many", place, dims,
         named, has ? " beside the ellipsis" : "");
  }
  return dims - named;
}

// The output of an equation without one: the ellipsis, then the letters that appear once.
Labels implicit_output(const std::vector<Labels>& inputs, int ellipsis) {
  std::array<int, kLetters> count{};
  for (const Labels& labels : inputs) {
    for (int label : labels) {
      if (label < kLetters) count[static_cast<size_t>(label)]++;
    }
  }
  Labels output;
  for (int i = 0; i < ellipsis; i++) output.push_back(kLetters + i);
  for (int i = 0; i < kLetters; i++) {
    if (count[static_cast<size_t>(i)] == 1) output.push_back(i);
  }
  return output;
}

void check_output(const Equation& equation) {
  Labels seen;
  for (int label : equation.output) {
    auto has = [&](const Labels& labels) {
      return std::find(labels.begin(), labels.end(), label) != labels.end();
    };
    if (label >= kLetters) continue;
    if (has(seen)) fail("einsum: the output has the subscript {} twice", letter_of(label));
    if (std::none_of(equation.inputs.begin(), equation.inputs.end(), has)) {
      fail("einsum: the output has the subscript {}, which no operand has", letter_of(label));
    }
    seen.push_back(label);
  }
}

Equation parse(std::string_view text, const Tensors& operands) {
  Equation equation;
  size_t arrow = text.find("->");
  equation.inputs = parse_inputs(text.substr(0, arrow), text);
  if (equation.inputs.size() != operands.size()) {
    fail("einsum: '{}' is for {} operands, got {}", text, equation.inputs.size(), operands.size());
  }
  std::vector<int> counts;
  int ellipsis = 0;  // how many dimensions it stands for at most
  for (size_t i = 0; i < operands.size(); i++) {
    counts.push_back(ellipsis_of(equation.inputs[i], operands[i], i));
    ellipsis = std::max(ellipsis, counts[i]);
  }
  for (size_t i = 0; i < operands.size(); i++) {
    spread_ellipsis(equation.inputs[i], counts[i], ellipsis);
  }
  if (arrow == text.npos) {
    equation.output = implicit_output(equation.inputs, ellipsis);
  } else {
    equation.output = parse_term(text.substr(arrow + 2), text);
    spread_ellipsis(equation.output, ellipsis, ellipsis);
  }
  check_output(equation);
  return equation;
}

// Every label once: those of the output in its order, then those that are summed over.
Labels all_labels(const Equation& equation) {
  Labels all = equation.output;
  for (const Labels& labels : equation.inputs) {
    for (int label : labels) {
      if (std::find(all.begin(), all.end(), label) == all.end()) all.push_back(label);
    }
  }
  return all;
}

// One dimension per label: the diagonal of those that have the same one.
Tensor without_repeats(Tensor operand, Labels& labels, size_t place) {
  for (size_t i = 0; i < labels.size(); i++) {
    auto again = std::find(labels.begin() + static_cast<ptrdiff_t>(i) + 1, labels.end(), labels[i]);
    if (again == labels.end()) continue;
    auto k = static_cast<size_t>(again - labels.begin());
    if (!(operand.sizes()[i] == operand.sizes()[k])) {
      fail("einsum: operand {} has the subscript {} twice, of sizes {} and {}; expected equal ones",
           place, letter_of(labels[i]), operand.sizes()[i].text(), operand.sizes()[k].text());
    }
    operand = diagonal(operand, 0, static_cast<int64_t>(i), static_cast<int64_t>(k));
    int label = labels[i];
    labels.erase(again);
    labels.erase(labels.begin() + static_cast<ptrdiff_t>(i));
    labels.push_back(label);  // the diagonal is the last dimension
    i--;
  }
  return operand;
}

// With a dimension per label of the equation, of size 1 where the operand does not have it.
Tensor spread(const Tensor& operand, const Labels& labels, const Labels& all) {
  Axes order;
  for (int label : all) {
    auto place = std::find(labels.begin(), labels.end(), label);
    if (place != labels.end()) order.push_back(place - labels.begin());
  }
  Tensor result = permute(operand, order);
  for (size_t i = 0; i < all.size(); i++) {
    if (std::find(labels.begin(), labels.end(), all[i]) != labels.end()) continue;
    result = unsqueeze(result, static_cast<int64_t>(i));
  }
  return result;
}

void check_sizes(const Tensors& operands, const Labels& all) {
  for (size_t d = 0; d < all.size(); d++) {
    Dim known = 1;
    for (size_t i = 0; i < operands.size(); i++) {
      Dim size = operands[i].sizes()[d];
      if (size == 1 || size == known) continue;
      if (!(known == 1)) {
        fail("einsum: {} has size {} in operand {} and {} before; expected equal ones, or 1",
             all[d] < kLetters ? fmt::format("subscript {}", letter_of(all[d])) : "the ellipsis",
             size.text(), i, known.text());
      }
      known = size;
    }
  }
}

Tensor add_up(const Tensor& x, const Axes& axes) { return axes.empty() ? x : sum(x, axes, true); }

// The product of two operands that are spread, summed over some dimensions, which stay with size 1.
Tensor contract(Tensor a, Tensor b, const std::vector<bool>& summed) {
  Axes batch, left, right, both, of_a, of_b;
  for (size_t d = 0; d < summed.size(); d++) {
    bool in_a = !(a.sizes()[d] == 1), in_b = !(b.sizes()[d] == 1);
    auto axis = static_cast<int64_t>(d);
    if (summed[d] && in_a != in_b) (in_a ? of_a : of_b).push_back(axis);
    bool stays = in_a && !summed[d];
    (in_a && in_b ? (summed[d] ? both : batch) : stays ? left : right).push_back(axis);
  }
  a = add_up(a, of_a);
  b = add_up(b, of_b);
  if (both.empty()) return a * b;
  auto order = [](std::initializer_list<const Axes*> parts) {
    Axes all;
    for (const Axes* part : parts) all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  auto sizes_of = [](const Tensor& x, const Axes& axes) {
    Dims sizes;
    for (int64_t axis : axes) sizes.push_back(x.sizes()[static_cast<size_t>(axis)]);
    return sizes;
  };
  Dim batches = product(sizes_of(a, batch)), terms = product(sizes_of(a, both));
  Dim rows = product(sizes_of(a, left)), columns = product(sizes_of(b, right));
  Tensor rows_of_a =
      reshape(permute(a, order({&batch, &left, &both, &right})), {batches, rows, terms});
  Tensor columns_of_b =
      reshape(permute(b, order({&batch, &both, &right, &left})), {batches, terms, columns});
  Axes result_order = order({&batch, &left, &both, &right}), back(result_order.size());
  Dims sizes = sizes_of(a, order({&batch, &left}));
  for (size_t i = 0; i < both.size(); i++) sizes.push_back(1);
  for (Dim size : sizes_of(b, right)) sizes.push_back(size);
  for (size_t i = 0; i < back.size(); i++) {
    back[static_cast<size_t>(result_order[i])] = static_cast<int64_t>(i);
  }
  return permute(reshape(bmm(rows_of_a, columns_of_b), sizes), back);
}

// From left to right; a dimension is summed over as soon as no later operand has it.
Tensor sum_of_products(const Tensors& operands, size_t outputs) {
  auto dims = static_cast<size_t>(operands[0].dim());
  std::vector<size_t> last(dims);
  for (size_t i = 0; i < operands.size(); i++) {
    for (size_t d = outputs; d < dims; d++) {
      if (!(operands[i].sizes()[d] == 1)) last[d] = i;
    }
  }
  Axes alone;
  for (size_t d = outputs; d < dims; d++) {
    if (last[d] == 0) alone.push_back(static_cast<int64_t>(d));
  }
  Tensor result = add_up(operands[0], alone);
  for (size_t i = 1; i < operands.size(); i++) {
    std::vector<bool> summed(dims);
    for (size_t d = outputs; d < dims; d++) summed[d] = last[d] == i;
    result = contract(result, operands[i], summed);
  }
  for (size_t d = dims; d-- > outputs;) result = squeeze(result, static_cast<int64_t>(d));
  return result;
}

const auto einsum_entry =
    define(einsum, "Sums of products by subscripts, such as 'ij,jk->ik' for a matrix product.",
           [](const std::string& text, const Tensors& tensors) {
             if (tensors.empty()) fail("einsum: expected at least one operand");
             Equation equation = parse(text, tensors);
             Labels all = all_labels(equation);
             Tensors operands;
             for (size_t i = 0; i < tensors.size(); i++) {
               Tensor operand = without_repeats(tensors[i], equation.inputs[i], i);
               operands.push_back(spread(operand, equation.inputs[i], all));
             }
             check_sizes(operands, all);
             return sum_of_products(operands, equation.output.size());
           })
        .samples([] {
          auto a = [] { return sample({2, 3}); };
          return Samples{
              {{std::string("ij,jk->ik"), Tensors{a(), sample({3, 4})}}},
              {{std::string("bij,bkj"), Tensors{sample({2, 3, 4}), sample({2, 5, 4})}},
               "batches, implicit output"},
              {{std::string("...i,...i->..."), Tensors{sample({2, 1, 3}), a()}}, "ellipsis"},
              {{std::string("ii->i"), Tensors{sample({3, 3})}}, "diagonal"},
              {{std::string("ij->"), Tensors{a()}}, "sum"},
              {{std::string("ij,ij->ij"), Tensors{a(), a()}}, "elements"},
              {{std::string("i,ij,j->"), Tensors{sample({2}), a(), sample({3})}},
               "three operands"}};
        });

}  // namespace
}  // namespace fg
