// The gradients of attention. A tile of keys goes over the blocks of queries that see it: scores
// are computed again, and the gradients of its keys and values are summed in order of the queries,
// those of the queries in order of the tiles. Few heads are cut into slices of tiles, as many as
// follow from the sizes; the gradients of the queries from all slices are added at the end.
#include "base/interrupt.h"
#include "base/pool.h"
#include "ops/attention/attention_kernel.h"
#include "ops/attention/attention_rows.h"

namespace fg::kernels {

namespace {

constexpr int64_t kBlockRows = 96, kTileKeys = 96;
constexpr int64_t kEnoughTasks = 8;
constexpr double kMinWork = 1 << 20;  // for a thread of its own, in multiplications and additions

// A block of queries and a tile of keys.
struct QueryKeyTile {
  int64_t query, queries, key, keys;
};

// The gradients of a head's queries: `slices` sums of rows of `stride`, `apart` from one another.
template <class T>
struct SumSlices {
  const T* sums;
  int64_t stride, slices, apart;
  Rows<T> to;
  int64_t rows, width;
  T factor;

  template <Level L>
  FG_INLINE void run() const {
    auto scale = ir::splat<T, L>(factor);
    for (int64_t i = 0; i < rows; i++) {
      each_group(width, [&](int64_t c, int64_t count) FG_INLINED {
        const T* from = sums + i * stride + c;
        auto sum = load_group<L>(from, count);
        for (int64_t s = 1; s < slices; s++) sum = sum + load_group<L>(from + s * apart, count);
        store_group<L>(to.data + i * to.stride + c, sum * scale, count);
      });
    }
  }
};

// One head at a time, with the memory for it. Rows of width and value_width are padded to groups.
template <Level L, class T>
class BackwardHead {
 public:
  BackwardHead(const AttentionBackward& task, const AttentionSizes& s)
      : task_(task),
        sizes_(s),
        width_(round_up_to(s.width, kGroupSize)),
        value_width_(round_up_to(s.value_width, kGroupSize)),
        key_panels_(round_up_to(s.keys, kPanel) * s.width),
        value_panels_(round_up_to(s.keys, kPanel) * s.value_width),
        key_rows_(s.keys * width_),
        query_rows_(s.queries * width_),
        grad_rows_(s.queries * value_width_),
        means_(s.queries),
        weights_(kBlockRows * kTileKeys),
        slopes_(kBlockRows * kTileKeys),
        key_sums_(kTileKeys * width_),
        value_sums_(kTileKeys * value_width_) {}

  // Queries are scaled on the way, which scales the scores and the gradients of keys.
  void open(int64_t index) {
    batch_ = index / sizes_.heads;
    head_ = index % sizes_.heads;
    logs_ = static_cast<const T*>(task_.sums) + index * sizes_.queries;
    mask_ = read(task_.mask);
    copy(read(task_.k), key_rows_, width_, sizes_.keys, sizes_.width, 1);
    copy(read(task_.q), query_rows_, width_, sizes_.queries, sizes_.width, sizes_.scale);
    copy(read(task_.grad), grad_rows_, value_width_, sizes_.queries, sizes_.value_width, 1);
    const Rows<const T> v = read(task_.v), grad{grad_rows_.get(), value_width_};
    pack<L, T, kPanel>({key_rows_.get(), width_, 1}, sizes_.keys, sizes_.width, key_panels_.get());
    pack<L, T, kPanel>({v.data, v.stride, 1}, sizes_.keys, sizes_.value_width, value_panels_.get());
    run_step<L>(
        DotRows<T>{grad, read(task_.out), sizes_.queries, sizes_.value_width, means_.get()});
  }

  // Writes dv = P^T @ grad and dk = dS^T @ q of the keys from `key` on, and adds dS @ k to dq.
  void run_tile(int64_t key, T* query_sums) {
    QueryKeyTile tile{0, 0, key, std::min(kTileKeys, sizes_.keys - key)};
    std::fill_n(key_sums_.get(), kTileKeys * width_, T(0));
    std::fill_n(value_sums_.get(), kTileKeys * value_width_, T(0));
    tile.query = sizes_.causal ? key : 0;
    for (; tile.query < sizes_.queries; tile.query += kBlockRows) {
      poll_interrupt();
      tile.queries = std::min(kBlockRows, sizes_.queries - tile.query);
      const bool whole = !sizes_.causal || key + tile.keys <= tile.query + 1;
      const int64_t together = whole ? tile.queries : kTileRows;
      for (int64_t row = 0; row < tile.queries; row += together)
        run_rows(tile, row, std::min(together, tile.queries - row), query_sums);
      sum_transposed(tile, weights_, grad_rows_, value_width_, value_sums_);
      sum_transposed(tile, slopes_, query_rows_, width_, key_sums_);
    }
    write(task_.dk, key_sums_, width_, tile, sizes_.width);
    write(task_.dv, value_sums_, value_width_, tile, sizes_.value_width);
  }

 private:
  static constexpr int kPanel = Registers<L, T>::kPanel;

  Rows<const T> read(const Heads& h) const { return head_of<const T>(h, batch_, head_); }

  static void copy(Rows<const T> from, const Buffer<T>& to, int64_t stride, int64_t count,
                   int64_t width, double factor) {
    run_step<L>(CopyRows<T>{from, {to.get(), stride}, count, width, static_cast<T>(factor)});
    for (int64_t i = 0; stride > width && i < count; i++)
      std::fill(to.get() + i * stride + width, to.get() + (i + 1) * stride, T(0));
  }
  void write(const Heads& to, const Buffer<T>& from, int64_t stride, const QueryKeyTile& tile,
             int64_t width) {
    const Rows<T> rows = head_of<T>(to, batch_, head_);
    run_step<L>(CopyRows<T>{
        {from.get(), stride}, {rows.at(tile.key), rows.stride}, tile.keys, width, T(1)});
  }

  // Weights P = exp(S - logsumexp) and dS = P * (grad @ v^T - mean) of some rows; dq += dS @ k.
  void run_rows(const QueryKeyTile& tile, int64_t row, int64_t rows, T* query_sums) {
    const int64_t query = tile.query + row;
    const int64_t seen = sizes_.causal ? query + 1 - tile.key : tile.keys;
    const int64_t cols = std::min(seen + rows - 1, tile.keys), panels = round_up_to(cols, kPanel);
    T* const weights = weights_.get() + row * kTileKeys;
    T* const slopes = slopes_.get() + row * kTileKeys;
    multiply_block<L, T>(
        {query_rows_.get() + query * width_, width_, width_, 1},
        {key_panels_.get() + tile.key * sizes_.width, kPanel, kPanel * sizes_.width},
        {weights, kTileKeys, Into::set}, rows, panels, sizes_.width);
    multiply_block<L, T>(
        {grad_rows_.get() + query * value_width_, value_width_, value_width_, 1},
        {value_panels_.get() + tile.key * sizes_.value_width, kPanel, kPanel * sizes_.value_width},
        {slopes, kTileKeys, Into::set}, rows, panels, sizes_.value_width);
    const T* added = mask_.at(query);
    // Products with transposed weights read a few keys more than these rows see.
    const int64_t end = std::min(kTileKeys, round_up_to(cols + kTileRows - 1, kGroupSize));
    run_step<L>(DifferentiateRows<T>{{weights, kTileKeys},
                                     {slopes, kTileKeys},
                                     rows,
                                     end,
                                     {cols, seen, sizes_.causal ? 1 : 0},
                                     {added ? added + tile.key : nullptr, mask_.stride},
                                     logs_ + query,
                                     means_.get() + query});
    multiply_block<L, T>({slopes, kTileKeys, kTileKeys, 1},
                         {key_rows_.get() + tile.key * width_, width_, kPanel},
                         {query_sums + query * width_, width_, Into::resume}, rows, width_, cols);
  }

  // sums += weights^T @ rows. Queries before the first of a few keys do not see them.
  void sum_transposed(const QueryKeyTile& tile, const Buffer<T>& weights, const Buffer<T>& rows,
                      int64_t width, const Buffer<T>& sums) {
    for (int64_t c = 0; c < tile.keys; c += kTileRows) {
      const int64_t height = std::min<int64_t>(kTileRows, tile.keys - c);
      const int64_t skipped = sizes_.causal ? std::max<int64_t>(tile.key + c - tile.query, 0) : 0;
      if (skipped >= tile.queries) break;
      multiply_strip<L, T>({weights.get() + skipped * kTileKeys + c, 1, 1, kTileKeys},
                           {rows.get() + (tile.query + skipped) * width, width, kPanel},
                           {sums.get() + c * width, width, Into::resume}, height, width,
                           tile.queries - skipped, static_cast<int>(height));
    }
  }

  const AttentionBackward& task_;
  AttentionSizes sizes_;
  int64_t width_, value_width_;
  int64_t batch_ = 0, head_ = 0;
  const T* logs_ = nullptr;
  Rows<const T> mask_;
  Buffer<T> key_panels_, value_panels_, key_rows_, query_rows_, grad_rows_, means_;
  Buffer<T> weights_, slopes_;  // of a block and a tile
  Buffer<T> key_sums_, value_sums_;
};

// Keys that no query sees.
template <class T>
void zero_unseen(const AttentionBackward& task, int64_t seen) {
  const AttentionSizes& s = task.sizes;
  for (int64_t i = 0; i < s.batch * s.heads; i++) {
    const auto dk = head_of<T>(task.dk, i / s.heads, i % s.heads);
    const auto dv = head_of<T>(task.dv, i / s.heads, i % s.heads);
    for (int64_t key = seen; key < s.keys; key++) {
      std::fill_n(dk.at(key), s.width, T(0));
      std::fill_n(dv.at(key), s.value_width, T(0));
    }
  }
}

template <Level L, class T>
void attend_backward_at(const AttentionBackward& task) {
  AttentionSizes s = task.sizes;
  if (s.causal) s.keys = std::min(s.keys, s.queries);
  zero_unseen<T>(task, s.keys);
  const int64_t heads = s.batch * s.heads, tiles = part_count(s.keys, kTileKeys);
  const int64_t slices = std::min(std::max<int64_t>(kEnoughTasks / heads, 1), tiles);
  const int64_t stride = round_up_to(s.width, kGroupSize), size = s.queries * stride;
  auto write_queries = [&](const T* sums, int64_t head) {
    const auto dq = head_of<T>(task.dq, head / s.heads, head % s.heads);
    run_step<L>(
        SumSlices<T>{sums, stride, slices, size, dq, s.queries, s.width, static_cast<T>(s.scale)});
  };
  const double work = 5.0 * static_cast<double>(s.queries * s.keys / slices) *
                      static_cast<double>(s.width + s.value_width);
  Buffer<T> all(slices > 1 ? heads * slices * size : 0);
  pool::parallel_for(heads * slices, static_cast<int64_t>(kMinWork / (work + 1000)) + 1,
                     [&](int64_t begin, int64_t end) {
                       BackwardHead<L, T> head(task, s);
                       Buffer<T> one(slices == 1 ? size : 0);
                       for (int64_t i = begin; i < end; i++) {
                         const int64_t slice = i % slices;
                         T* const sums = slices == 1 ? one.get() : all.get() + i * size;
                         std::fill_n(sums, size, T(0));
                         if (i == begin || slice == 0) head.open(i / slices);
                         for (int64_t t = slice * tiles / slices; t < (slice + 1) * tiles / slices;
                              t++)
                           head.run_tile(t * kTileKeys, sums);
                         if (slices == 1) write_queries(sums, i);
                       }
                     });
  for (int64_t i = 0; slices > 1 && i < heads; i++) write_queries(all.get() + i * slices * size, i);
}

}  // namespace

void attend_backward(const AttentionBackward& task) {
  visit_float(task.sizes.dtype, [&]<class T>(T) {
    if constexpr (FG_HAS_V3) {
      if (level() == Level::v4) return attend_backward_at<Level::v4, T>(task);
      if (level() == Level::v3) return attend_backward_at<Level::v3, T>(task);
    }
    attend_backward_at<Level::baseline, T>(task);
  });
}

}  // namespace fg::kernels
