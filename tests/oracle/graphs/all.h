// Every scene, in order.
#pragma once

#include "gradients.h"
#include "writes.h"

int main() {
  writes_through_views();
  refused_writes();
  views_of_several_outputs();
  buffers_and_second_backwards();
  hooks_and_expansion();
  changing_what_requires_grad();
  set_data_and_higher_order();
  modes_and_fills();
  layouts();
  data_and_dtypes();
  hooks_and_ties();
  bends();
  reductions_and_products();
  indexing();
  powers_and_softmax();
  joining_and_grad();
  rearranging();
}
