// The only file that includes LEMON.
#include "passes/max_flow.h"

#include <lemon/preflow.h>
#include <lemon/static_graph.h>

namespace fg::passes {

namespace {

using Network = lemon::StaticDigraph;
using Capacities = Network::ArcMap<int64_t>;
using Flow = lemon::Preflow<Network, Capacities>;

// Nodes that can still send to the sink. (Flow::minCut gives some cut of several of equal cost.)
std::vector<bool> reaching(const Network& network, const Capacities& capacities, const Flow& flow,
                           Network::Node sink) {
  std::vector<bool> reaches(static_cast<size_t>(network.nodeNum()));
  std::vector<Network::Node> pending;
  auto reach = [&](Network::Node node) {
    auto index = static_cast<size_t>(Network::index(node));
    if (reaches[index]) return;
    reaches[index] = true;
    pending.push_back(node);
  };
  reach(sink);
  while (!pending.empty()) {
    Network::Node node = pending.back();
    pending.pop_back();
    for (Network::InArcIt arc(network, node); arc != lemon::INVALID; ++arc) {
      if (flow.flow(arc) < capacities[arc]) reach(network.source(arc));
    }
    for (Network::OutArcIt arc(network, node); arc != lemon::INVALID; ++arc) {
      if (flow.flow(arc) > 0) reach(network.target(arc));
    }
  }
  return reaches;
}

}  // namespace

std::vector<bool> minimum_cut(int count, const std::vector<Arc>& arcs, int source, int sink) {
  // LEMON wants arcs in the order of the nodes that they leave.
  std::vector<int> next(static_cast<size_t>(count) + 1), place(arcs.size());
  for (const Arc& arc : arcs) next[static_cast<size_t>(arc.from) + 1]++;
  for (size_t i = 0; i < static_cast<size_t>(count); i++) next[i + 1] += next[i];
  std::vector<std::pair<int, int>> ends(arcs.size());
  for (size_t i = 0; i < arcs.size(); i++) {
    place[i] = next[static_cast<size_t>(arcs[i].from)]++;
    ends[static_cast<size_t>(place[i])] = {arcs[i].from, arcs[i].to};
  }
  Network network;
  network.build(count, ends.begin(), ends.end());
  Capacities capacities(network);
  for (size_t i = 0; i < arcs.size(); i++) capacities[network.arc(place[i])] = arcs[i].capacity;
  Flow flow(network, capacities, network.node(source), network.node(sink));
  flow.runMinCut();
  std::vector<bool> result = reaching(network, capacities, flow, network.node(sink));
  result.flip();
  return result;
}

}  // namespace fg::passes
