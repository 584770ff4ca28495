#include "tensor/generator.h"

#include <pthread.h>

#include <mutex>
#include <random>

#include "base/fail.h"

namespace fg {

namespace {

// One lock for all generators: it is held for a few instructions once per random op, and a single
// lock is easily made safe for fork().
constinit std::mutex mutex;

[[maybe_unused]] const int fork_handlers =
    pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });

}  // namespace

Generator::Generator(uint64_t seed) : state_(Ref<State>::adopt(new State)) {
  state_->key = {seed, 0};
}

Generator Generator::clone() const {
  Generator copy;
  copy.state_->key = get_state();
  return copy;
}

void Generator::manual_seed(uint64_t seed) const { set_state({seed, 0}); }

uint64_t Generator::seed() const {
  uint64_t seed = nondeterministic_seed();
  manual_seed(seed);
  return seed;
}

uint64_t Generator::current_seed() const { return get_state().seed; }

uint64_t Generator::get_offset() const { return get_state().offset; }

static thread_local int frozen = 0;
FrozenGenerators::FrozenGenerators() { frozen++; }
FrozenGenerators::~FrozenGenerators() { frozen--; }

// Inside of a captured function the state is that of the call, which has not begun.
static void refuse_in_capture() {
  if (frozen > 0) {
    fail("a function that is being captured reads or sets the state of a generator; do it outside");
  }
}

void Generator::set_offset(uint64_t offset) const {
  refuse_in_capture();
  std::lock_guard lock(mutex);
  state_->key.offset = offset;
}

PhiloxKey Generator::get_state() const {
  refuse_in_capture();
  std::lock_guard lock(mutex);
  return state_->key;
}

void Generator::set_state(PhiloxKey state) const {
  refuse_in_capture();
  std::lock_guard lock(mutex);
  state_->key = state;
}

static thread_local PhiloxKey* replayed = nullptr;

ReplayedNumbers::ReplayedNumbers(PhiloxKey key)
    : key_(key), outer_(std::exchange(replayed, &key_)) {}
ReplayedNumbers::~ReplayedNumbers() { replayed = outer_; }

PhiloxKey Generator::reserve(uint64_t numbers) const {
  if (replayed) {
    PhiloxKey key = *replayed;
    replayed->offset += numbers;
    return key;
  }
  std::lock_guard lock(mutex);
  PhiloxKey key = state_->key;
  state_->key.offset += numbers;
  return key;
}

const Generator& default_generator() {
  // Kept for ever: threads may still draw while the program ends.
  static const Generator& generator = *new Generator(nondeterministic_seed());
  return generator;
}

void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }

uint64_t nondeterministic_seed() {
  std::random_device device;
  // 53 bits: the seed survives languages whose numbers are doubles, as PyTorch's does.
  return (uint64_t{device()} << 32 | device()) & ((uint64_t{1} << 53) - 1);
}

}  // namespace fg
