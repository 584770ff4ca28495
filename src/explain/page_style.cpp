// The style sheet of the page that explain writes: colours, light and dark, tables and charts.
#include "explain/page.h"

namespace fg::explain {

const char* const kPageStyle = R"css(
:root { color-scheme: light dark; --back: #ffffff; --panel: #f6f7f9; --text: #1c2128;
  --muted: #667080; --line: #d9dee5; --accent: #2f6feb; --loop: #12a594; --product: #4c7dff;
  --tiles: #3f9c35;
  --convolution: #8b5cf6; --reduction: #e5812d; --movement: #c2417c; --other: #8a94a3;
  --peak: #d6336c; }
@media (prefers-color-scheme: dark) { :root { --back: #14171c; --panel: #1d2229; --text: #e4e8ee;
  --muted: #98a3b3; --line: #323a45; --accent: #78a6ff; --loop: #2cc5b3; --product: #7098ff;
  --tiles: #6cc24a;
  --convolution: #a98bfa; --reduction: #f09a4d; --movement: #e06a9f; --other: #7d8796;
  --peak: #ff7aa8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1120px; padding: 32px 24px 80px; background: var(--back);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 21px; margin: 44px 0 8px;
  padding-top: 20px; border-top: 2px solid var(--line); }
h3 { font-size: 18px; margin: 34px 0 6px; } h3::first-letter { text-transform: uppercase; }
h4 { font-size: 14px; margin: 22px 0 4px; }
p { margin: 4px 0 10px; } .muted, small { color: var(--muted); }
code, pre, .mono { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 12.5px; }
pre { background: var(--panel); border-radius: 6px; padding: 10px 12px; overflow: auto;
  max-height: 420px; margin: 6px 0; }
.cards { display: flex; flex-wrap: wrap; gap: 10px; margin: 14px 0; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
  padding: 10px 16px; min-width: 130px; }
.card b { display: block; font-size: 20px; font-weight: 650; } .card span { color: var(--muted);
  font-size: 13px; }
.note { background: var(--panel); border-left: 4px solid var(--accent); border-radius: 4px;
  padding: 8px 14px; margin: 10px 0; }
details { border: 1px solid var(--line); border-radius: 8px; margin: 8px 0; }
summary { cursor: pointer; padding: 7px 12px; font-weight: 550; }
summary:hover { background: var(--panel); border-radius: 8px; }
details > div { padding: 4px 12px 12px; overflow: auto; max-height: 720px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { text-align: left; color: var(--muted); font-weight: 550; position: sticky; top: -4px;
  background: var(--back); }
th, td { padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.short { white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
tr.backward td:first-child { box-shadow: inset 3px 0 var(--reduction); padding-left: 8px; }
tr.forward td:first-child { box-shadow: inset 3px 0 var(--product); padding-left: 8px; }
.share { display: inline-block; height: 9px; border-radius: 2px; min-width: 1px; }
.dot:first-child { margin-left: 0; }
.dot { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin: 0 5px 0 12px; }
.parts { display: flex; height: 22px; border-radius: 5px; overflow: hidden; margin: 6px 0; }
.parts span { min-width: 2px; } .use { background: var(--accent); fill: var(--accent); }
.loop { background: var(--loop); fill: var(--loop); }
.tiles { background: var(--tiles); fill: var(--tiles); }
.product { background: var(--product); fill: var(--product); }
.convolution { background: var(--convolution); fill: var(--convolution); }
.reduction { background: var(--reduction); fill: var(--reduction); }
.movement { background: var(--movement); fill: var(--movement); }
.other { background: var(--other); fill: var(--other); }
.phases { font-size: 13px; } .phase { display: grid; align-items: center; gap: 10px;
  grid-template-columns: 190px 1fr 84px 200px; line-height: 1.55; }
.phase .track { background: var(--panel); height: 12px; border-radius: 3px; }
.phase .bar { display: block; height: 12px; border-radius: 3px; background: var(--accent);
  min-width: 2px; }
.phase .number { text-align: right; font-variant-numeric: tabular-nums; }
svg.chart { width: 100%; height: auto; display: block; margin: 6px 0; }
svg.chart text { fill: var(--muted); font: 11px system-ui, sans-serif; }
svg.chart .grid { stroke: var(--line); stroke-width: 1; }
svg.chart .use { opacity: .75; }
svg.chart .block { stroke: var(--muted); stroke-dasharray: 5 4; fill: none; }
svg.chart .peak { stroke: var(--peak); fill: var(--peak); } svg.chart text.peak { stroke: none; }
svg.chart .piece { stroke: var(--back); stroke-width: .4; }
svg.chart .piece:hover { opacity: .6; }
.picture { overflow: auto; max-height: 680px; }
.picture .fit svg { max-width: 100%; height: auto; }
.picture svg > g > polygon { fill: none; stroke: none; }
.picture .edge path, .picture .edge polygon { stroke: var(--muted); }
.picture .edge polygon { fill: var(--muted); } .picture .edge text { fill: var(--muted); }
.picture .node text { fill: #1c2128; }
@media (max-width: 760px) { .phase { grid-template-columns: 120px 1fr 70px; }
  .phase small { display: none; } }
)css";

}  // namespace fg::explain
