#include "compile/stored_programs.h"

#include <algorithm>

#include "base/fail.h"
#include "base/level.h"
#include "base/log.h"
#include "compile/stored_programs_generated.h"

namespace fg::compiler {

using capture::Function;

namespace {

// Indices of what is true, the length last.
std::vector<uint64_t> packed(const std::vector<bool>& flags) {
  std::vector<uint64_t> result;
  for (size_t i = 0; i < flags.size(); i++) {
    if (flags[i]) result.push_back(i);
  }
  result.push_back(flags.size());
  return result;
}
std::vector<bool> flags_of(const std::vector<uint64_t>& indices) {
  constexpr uint64_t kMost = 1 << 24;
  if (indices.empty() || indices.back() > kMost) fail(ErrorKind::value, "a list is not whole");
  std::vector<bool> result(indices.back());
  for (size_t i = 0; i + 1 < indices.size(); i++) result.at(indices[i]) = true;
  return result;
}

std::unique_ptr<format::ListT> list_of(std::vector<uint64_t> items) {
  auto list = std::make_unique<format::ListT>();
  list->items = std::move(items);
  return list;
}

std::string finish(const format::MetaT& meta) {
  flatbuffers::FlatBufferBuilder builder;
  format::FinishMetaBuffer(builder, format::Meta::Pack(builder, &meta));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

format::MetaT meta_of(const cache::Entry& entry) {
  std::string_view bytes = entry.section("meta");
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size());
  if (bytes.empty() || !format::VerifyMetaBuffer(verifier)) {
    fail(ErrorKind::value, "what is known of stored code is not whole; compile it anew");
  }
  format::MetaT meta;
  format::GetMeta(data)->UnPackTo(&meta);
  return meta;
}

void pack_lines(const capture::Lines& lines, format::MetaT& meta) {
  std::vector<bool> known(lines.texts.size());
  known[0] = true;
  for (uint32_t i = 0; i < lines.places.size(); i++) {
    uint32_t place = lines.places[i];
    if (known[place]) continue;
    known[place] = true;
    auto& line = meta.lines.emplace_back(std::make_unique<format::LineT>());
    line->text = lines.texts[place];
    line->operation = i;
  }
}

// The line that an operation has in this program, by the one it had where it was compiled.
using LinesNow = std::unordered_map<std::string, std::string>;
LinesNow lines_now(const format::MetaT& meta, const capture::Lines& lines) {
  LinesNow result;
  for (const auto& line : meta.lines) {
    if (line->operation >= lines.places.size()) continue;
    result.emplace(line->text, lines.texts[lines.places[line->operation]]);
  }
  return result;
}

// A line that is neither known by its operation nor one of this program says nothing here.
void rename_lines(ir::Graph& graph, const LinesNow& lines, const Function& function) {
  const std::vector<std::string>& own = function.trace->tracer.graph.sources;
  for (std::string& source : graph.sources) {
    if (auto found = lines.find(source); found != lines.end())
      source = found->second;
    else if (std::find(own.begin(), own.end(), source) == own.end())
      source.clear();
  }
  for (ir::Operation& operation : graph.operations) {
    if (graph.sources[operation.source].empty()) operation.source = 0;
  }
}

// In a forward the inputs of the function stand first, in their order. In a backward those that
// code of the user reaches stand last, after tangents.
LazyGraph::Rename rename_for(LinesNow lines, const CalledHere& here, bool forward) {
  const Function& function = here.function;
  std::vector<ir::Role> roles;
  auto own = static_cast<std::ptrdiff_t>(function.inputs.size());
  if (forward) roles = function.input_roles;
  if (!forward && here.gradient) {
    roles.assign(here.gradient->input_roles.begin() + own, here.gradient->input_roles.end());
  }
  return
      [lines = std::move(lines), roles = std::move(roles), forward, &function](ir::Graph& graph) {
        std::scoped_lock lock(*function.mutex);
        rename_lines(graph, lines, function);
        size_t count = std::min(graph.inputs.size(), roles.size());
        size_t first = forward ? 0 : graph.inputs.size() - count;
        for (size_t i = 0; i < count; i++) {
          ir::Role& role = graph.input_roles[first + i];
          if (role.kind == roles[i].kind) role = roles[i];
        }
      };
}

GraphCallable code_of(const cache::Entry& entry, const LinesNow& lines) {
  auto code = std::make_shared<codegen::Executable>(entry.section("plan"), entry.section("object"));
  code->rename_lines(lines);
  return [code](Tensors inputs) { return code->run(std::move(inputs)); };
}

std::vector<size_t> indices(const std::vector<uint64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

void pack_values(const Forward& forward, format::ForwardT& to) {
  for (size_t i = 0; i < forward.saved.size(); i++) {
    auto& saved = to.saved.emplace_back(std::make_unique<format::SavedT>());
    saved->why = forward.saved[i].why;
    for (const Dim& stride : forward.saved_strides[i]) saved->strides.push_back(stride.value());
  }
  for (const Kept& kept : forward.kept) {
    auto& one = to.kept.emplace_back(std::make_unique<format::KeptT>());
    one->from = static_cast<uint8_t>(kept.from);
    one->index = kept.index;
    one->alone = kept.alone;
  }
}

void unpack_values(const format::ForwardT& from, Forward& forward) {
  for (const auto& saved : from.saved) {
    forward.saved.push_back({ir::kNoValue, saved->why});
    Dims& strides = forward.saved_strides.emplace_back();
    for (int64_t stride : saved->strides) strides.push_back(stride);
  }
  for (const auto& kept : from.kept) {
    if (kept->from > static_cast<uint8_t>(Kept::From::extra)) {
      fail(ErrorKind::value, "a saved value of stored code comes from nowhere");
    }
    forward.kept.push_back({static_cast<Kept::From>(kept->from), kept->index, kept->alone});
  }
}

}  // namespace

cache::Entry StoredSections::entry(double milliseconds) const {
  cache::Entry entry;
  entry.sections = {{"meta", meta}, {"plan", plan}, {"object", object}, {"graph", graph}};
  for (auto [name, text] : {std::pair<const char*, std::string_view>{"joint", joint},
                            {"partition", partition},
                            {"guards", guards}}) {
    if (!text.empty()) entry.sections.push_back({name, text});
  }
  entry.made = cache::made_here(name(level()), milliseconds);
  return entry;
}

static std::string packed_unless_empty(const std::string& text) {
  return text.empty() ? text : pack_text(text);
}

StoredSections store_forward(const Forward& forward, const ForwardTexts& texts,
                             const codegen::Executable& code, const capture::Lines& lines) {
  format::MetaT meta;
  pack_lines(lines, meta);
  meta.forward = std::make_unique<format::ForwardT>();
  format::ForwardT& to = *meta.forward;
  pack_values(forward, to);
  to.watched.assign(forward.watched.begin(), forward.watched.end());
  for (const auto& behind : forward.watched_behind) {
    to.watched_behind.push_back(list_of({behind.begin(), behind.end()}));
  }
  for (const auto& reach : forward.reach) to.reach.push_back(list_of(packed(reach)));
  to.used = packed(forward.used);
  to.varies = packed(forward.varies);
  to.reached = packed(forward.reached);
  to.held = packed(forward.held);
  to.again = packed(forward.again);
  to.work = forward.work;
  return {finish(meta),
          code.stored(),
          pack_text(forward.graph.get().text()),
          packed_unless_empty(texts.joint),
          packed_unless_empty(texts.partition),
          packed_unless_empty(texts.guards),
          code.object()};
}

StoredSections store_backward(const Backward& backward, const codegen::Executable& code,
                              const capture::Lines& lines) {
  format::MetaT meta;
  pack_lines(lines, meta);
  meta.backward = std::make_unique<format::BackwardT>();
  meta.backward->saved.assign(backward.saved.begin(), backward.saved.end());
  meta.backward->watched.assign(backward.watched.begin(), backward.watched.end());
  meta.backward->consumable = backward.graph.get().consumable;
  std::string graph = pack_text(backward.graph.get().text());
  return {finish(meta), code.stored(), std::move(graph), {}, {}, {}, code.object()};
}

static std::string origin_of(const cache::Entry& entry) {
  return fmt::format("from the cache, where it is since it was compiled in {:.0f} ms",
                     entry.made.compile_milliseconds);
}

// As if it had just been compiled.
static void log_from_cache(const cache::Entry& entry, const char* what,
                           const LazyGraph::Rename& rename) {
  if (!logging::enabled(logging::Topic::graph)) return;
  auto text = [&](const char* section) {
    std::string_view packed = entry.section(section);
    return packed.empty() ? std::string() : unpack_text(packed);
  };
  auto renamed = [&](const char* section) {
    if (entry.section(section).empty()) return std::string();
    ir::Graph graph = ir::parse_graph(text(section));
    rename(graph);
    return graph.text();
  };
  log_texts({renamed("joint"), text("partition"), text("guards")}, ", " + origin_of(entry));
  logging::write<"{}, {}:\n{}">(logging::Topic::graph, what, origin_of(entry), renamed("graph"));
}

void log_texts(const ForwardTexts& texts, const std::string& from) {
  using logging::Topic;
  if (!texts.guards.empty()) logging::write<"guards{}:\n{}">(Topic::graph, from, texts.guards);
  if (!texts.joint.empty()) logging::write<"joint{}:\n{}">(Topic::graph, from, texts.joint);
  if (texts.partition.empty()) return;
  logging::write<"partition{}:\n{}">(Topic::graph, from, texts.partition);
}

Forward load_forward(const cache::Entry& entry, bool record, const CalledHere& here) {
  format::MetaT meta = meta_of(entry);
  if (!meta.forward) fail(ErrorKind::value, "stored code is that of a backward");
  const format::ForwardT& from = *meta.forward;
  Forward forward;
  unpack_values(from, forward);
  forward.placed = forward.saved.empty();
  forward.watched = indices(from.watched);
  for (const auto& behind : from.watched_behind) {
    forward.watched_behind.push_back(indices(behind->items));
  }
  for (const auto& reach : from.reach) forward.reach.push_back(flags_of(reach->items));
  forward.used = flags_of(from.used);
  forward.varies = flags_of(from.varies);
  forward.reached = flags_of(from.reached);
  forward.held = flags_of(from.held);
  forward.again = flags_of(from.again);
  forward.work = from.work;
  LinesNow lines = lines_now(meta, here.lines);
  forward.run = code_of(entry, lines);
  LazyGraph::Rename rename = rename_for(std::move(lines), here, true);
  log_from_cache(entry, "forward", rename);
  forward.graph = LazyGraph(std::string(entry.section("graph")), !record, {}, std::move(rename));
  forward.from = origin_of(entry);
  return forward;
}

Backward load_backward(const cache::Entry& entry, const CalledHere& here) {
  format::MetaT meta = meta_of(entry);
  if (!meta.backward) fail(ErrorKind::value, "stored code is that of a forward");
  Backward backward;
  backward.saved = indices(meta.backward->saved);
  backward.watched = indices(meta.backward->watched);
  LinesNow lines = lines_now(meta, here.lines);
  backward.run = code_of(entry, lines);
  LazyGraph::Rename rename = rename_for(std::move(lines), here, false);
  log_from_cache(entry, "backward", rename);
  backward.graph = LazyGraph(std::string(entry.section("graph")), false, meta.backward->consumable,
                             std::move(rename));
  backward.from = origin_of(entry);
  return backward;
}

}  // namespace fg::compiler
