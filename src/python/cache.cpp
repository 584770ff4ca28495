// Bindings of the cache of compiled code: settings, statistics, artifacts.
#include "cache/cache.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/settings.h"
#include "python/bindings.h"

namespace fg::python {

static nb::dict dict_of(const std::map<std::string, uint64_t>& counts) {
  nb::dict result;
  for (const auto& [name, count] : counts) result[text_of_bytes(name)] = count;
  return result;
}

static nb::dict dict_of(const cache::Lookup& lookup) {
  nb::dict fields, result;
  for (const cache::Field& field : lookup.fields) {
    fields[text_of_bytes(field.name)] = text_of_bytes(field.value);
  }
  result["outcome"] = name(lookup.outcome);
  result["key"] = lookup.key;
  result["reason"] = text_of_bytes(lookup.reason);
  result["microseconds"] = lookup.microseconds;
  result["waited"] = lookup.waited;
  result["fields"] = fields;
  return result;
}

static nb::dict stats() {
  cache::Stats now = cache::stats();
  nb::dict result;
  result["hits"] = now.hits();
  result["memory_hits"] = now.memory_hits;
  result["local_hits"] = now.local_hits;
  result["remote_hits"] = now.remote_hits;
  result["misses"] = now.misses;
  result["guard_misses"] = now.guard_misses;
  result["waited"] = now.waited;
  result["saved"] = now.saved;
  result["saved_remotely"] = now.saved_remotely;
  result["evicted"] = now.evicted;
  result["milliseconds_saved"] = now.milliseconds_saved;
  result["bypasses"] = dict_of(now.bypasses);
  result["failures"] = dict_of(now.failures);
  nb::list lookups;
  for (const cache::Lookup& lookup : now.lookups) lookups.append(dict_of(lookup));
  result["lookups"] = lookups;
  return result;
}

namespace {

// The configuration as a dictionary by the names of the settings (FOREGRAD_CACHE_...).
nb::dict config_for_python() {
  cache::Config now = cache::config();
  nb::dict result;
  nb::object stores = nb::bool_(now.local);
  if (now.local != now.remote) stores = nb::str(now.local ? "local" : "remote");
  result["cache"] = stores;
  result["cache_dir"] = text_of_bytes(now.directory);
  result["cache_size"] = now.size_limit;
  result["cache_tag"] = text_of_bytes(now.tag);
  result["cache_strict"] = now.strict;
  result["cache_wait"] = now.wait_seconds;
  result["cache_remote"] = text_of_bytes(now.remote_url);
  result["cache_remote_timeout"] = now.remote_seconds;
  result["cache_key"] = text_of_bytes(now.shared_key);
  return result;
}

// Configures the cache; `settings` holds all of them, already checked.
void configure(const nb::dict& settings) {
  cache::Config next = cache::config();
  auto is = [&](const char* stores) { return settings["cache"].equal(nb::str(stores)); };
  bool on = settings["cache"].equal(nb::bool_(true));
  next.local = on || is("local");
  next.remote = on || is("remote");
  next.directory = bytes_of(settings["cache_dir"]);
  next.size_limit = nb::cast<uint64_t>(settings["cache_size"]);
  next.tag = bytes_of(settings["cache_tag"]);
  next.strict = nb::cast<bool>(settings["cache_strict"]);
  next.wait_seconds = nb::cast<double>(settings["cache_wait"]);
  next.remote_url = bytes_of(settings["cache_remote"]);
  next.remote_seconds = nb::cast<double>(settings["cache_remote_timeout"]);
  next.shared_key = bytes_of(settings["cache_key"]);
  cache::configure(next);
}

// A scope that Python ends explicitly, not when it collects the object.
struct FreshArtifacts {
  std::optional<cache::FreshArtifacts> scope{std::in_place};
};

}  // namespace

void add_cache(nb::module_& module) {
  module.def("cache_stats", stats);
  module.def("cache_reset_stats", cache::reset_stats);
  module.def("cache_clear", [] {
    MayRelease released;
    cache::clear();
  });
  module.def("cache_config", config_for_python);
  module.def("cache_configure", configure);
  module.def("bytes_of", [](const std::string& text) -> std::optional<uint64_t> {
    uint64_t bytes = 0;
    return settings::read_bytes(text, bytes) ? std::optional(bytes) : std::nullopt;
  });
  module.attr("CacheError") = nb::borrow(cache_error());
  module.attr("_LinAlgError") = nb::borrow(linalg_error());
  module.def("cache_save_artifacts", []() -> nb::object {
    std::optional<cache::Artifacts> made = cache::save_artifacts();
    if (!made) return nb::none();
    return nb::make_tuple(nb::bytes(made->bytes.data(), made->bytes.size()), made->keys);
  });
  module.def("cache_load_artifacts", [](const nb::bytes& bytes) {
    return cache::load_artifacts({bytes.c_str(), bytes.size()});
  });
  nb::class_<FreshArtifacts>(module, "FreshArtifacts")
      .def(nb::init<>())
      .def("close", [](FreshArtifacts& self) { self.scope.reset(); });
}

}  // namespace fg::python
