// The style sheet and the script of a report's page. Colours are named once for light and once for dark ground; the six of the
// curves can be told apart by the colour-blind. Caller: viz/report.cpp.
#pragma once

#include <string_view>

namespace weft::viz {

inline constexpr std::string_view page_style = R"css(
:root { color-scheme: light dark; --ground: #f7f7f5; --card: #ffffff; --ink: #1d1f23; --soft: #646a73; --line: #e3e3df;
  --c0: #2a78d6; --c1: #eb6834; --c2: #1baf7a; --c3: #9a5fc9; --c4: #c99400; --c5: #d6457b; --right: 42 120 214; --wrong: 235 104 52; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181b; --card: #1f2226; --ink: #e8e8e6; --soft: #9aa1ab; --line: #33373d;
  --c0: #5b9ee8; --c1: #f08a5d; --c2: #3fc795; --c3: #b58ae0; --c4: #dcb13c; --c5: #e8749f; --right: 70 140 225; --wrong: 240 120 70; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; margin: 0; letter-spacing: -0.01em; } h2 { font-size: 17px; margin: 0 0 10px; } h3 { font-size: 14px; margin: 16px 0 8px; }
header p, .remark { color: var(--soft); margin: 4px 0 0; } .remark { margin: -6px 0 12px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 18px 20px; margin-top: 16px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(125px, 1fr)); gap: 12px; margin-top: 20px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; }
.tile b { display: block; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; } .tile span { color: var(--soft); font-size: 13px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 20px; }
figure { margin: 0; } .charts figcaption { font-weight: 600; font-size: 14px; }
.legend { display: flex; flex-wrap: wrap; gap: 14px; font-size: 13px; color: var(--soft); } .legend i { display: inline-block; width: 14px; height: 3px;
  border-radius: 2px; margin-right: 6px; vertical-align: middle; }
.k0 { background: var(--c0); } .k1 { background: var(--c1); } .k2 { background: var(--c2); } .k3 { background: var(--c3); }
.k4 { background: var(--c4); } .k5 { background: var(--c5); }
.chart { position: relative; } svg { width: 100%; height: auto; display: block; } .tick { fill: var(--soft); font-size: 12px; font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); } .axis { stroke: var(--soft); } .cross { stroke: var(--soft); stroke-dasharray: 3 3; visibility: hidden; }
.curve path { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; } .curve circle { stroke: none; }
.c0 { stroke: var(--c0); fill: var(--c0); } .c1 { stroke: var(--c1); fill: var(--c1); } .c2 { stroke: var(--c2); fill: var(--c2); }
.c3 { stroke: var(--c3); fill: var(--c3); } .c4 { stroke: var(--c4); fill: var(--c4); } .c5 { stroke: var(--c5); fill: var(--c5); }
.tip { position: absolute; top: 8px; display: none; pointer-events: none; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 6px 10px; font-size: 12px; white-space: nowrap; box-shadow: 0 2px 8px #0003; font-variant-numeric: tabular-nums; }
.tip i { display: inline-block; width: 8px; height: 8px; border-radius: 4px; margin-right: 6px; }
.pixels { image-rendering: pixelated; }
.plane { max-width: 720px; margin: 0 auto; } .place { font-size: 20px; font-weight: 700; text-anchor: middle; dominant-baseline: middle; fill: var(--ink);
  stroke: var(--card); stroke-width: 4px; paint-order: stroke; }
.examples { display: grid; grid-template-columns: repeat(auto-fill, minmax(76px, 1fr)); gap: 12px; }
.example img { width: 100%; display: block; border-radius: 6px; border: 2px solid var(--line); } .example.wrong img { border-color: rgb(var(--wrong)); }
.example figcaption { font-size: 13px; text-align: center; line-height: 1.35; margin-top: 3px; overflow-wrap: anywhere; }
.example em, .remark em { color: rgb(var(--wrong)); font-style: normal; font-weight: 600; } .example em { margin-left: 6px; } .example span { display: block; color: var(--soft); font-size: 11px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th { font-weight: 600; text-align: left; }
.scroll { overflow-x: auto; } .plain { width: 100%; font-size: 14px; } .plain th, .plain td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.plain tr:last-child > * { border-bottom: 0; }
.confusion { font-size: 13px; } .confusion th { text-align: center; padding: 3px 8px; color: var(--soft); } .confusion td { text-align: center; min-width: 44px;
  padding: 6px; border: 1px solid var(--card); border-radius: 4px; } .confusion .corner { color: var(--soft); font-size: 11px; text-align: left; white-space: nowrap; }
.confusion .right { background: rgb(var(--right) / var(--shade)); } .confusion .wrong { background: rgb(var(--wrong) / var(--shade)); }
.confusion .none { color: var(--line); } .confusion .share { color: var(--soft); padding-left: 14px; }
.time { width: 100%; font-size: 14px; } .time th { font-weight: 400; white-space: nowrap; padding: 4px 14px 4px 0; } .time td { padding: 4px 0 4px 14px; text-align: right;
  white-space: nowrap; } .time .bar { width: 60%; padding-left: 0; } .time .bar i { display: block; height: 12px; border-radius: 3px; background: var(--c0); min-width: 1px; }
pre { margin: 0; font: 13px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-x: auto; }
summary { color: var(--soft); font-size: 13px; cursor: pointer; padding: 6px 0; }
)css";

inline constexpr std::string_view page_script = R"js(
function follow_pointer() { for (const chart of document.querySelectorAll('.chart')) {
  const curves = JSON.parse(chart.dataset.curves), svg = chart.querySelector('svg'), cross = svg.querySelector('.cross'), tip = chart.querySelector('.tip');
  svg.addEventListener('mousemove', event => {
    const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) * 640 / box.width;
    let nearest = null;
    for (const curve of curves) for (const point of curve.points) if (!nearest || Math.abs(point[0] - at) < Math.abs(nearest[0] - at)) nearest = point;
    if (!nearest) return;
    cross.setAttribute('x1', nearest[0]); cross.setAttribute('x2', nearest[0]); cross.style.visibility = 'visible';
    tip.replaceChildren();
    const line = (text, key) => {
      const row = document.createElement('div');
      if (key !== undefined) { const mark = document.createElement('i'); mark.className = 'k' + key % 6; row.append(mark); }
      row.append(text); tip.append(row);
    };
    line(nearest[2]);
    curves.forEach((curve, i) => { const point = curve.points.find(p => p[0] === nearest[0]); if (point) line(curve.name + ' ' + point[3], i); });
    tip.style.display = 'block';
    const x = nearest[0] / 640 * box.width;
    tip.style.left = (x > box.width / 2 ? x - tip.offsetWidth - 12 : x + 12) + 'px';
  });
  svg.addEventListener('mouseleave', () => { cross.style.visibility = 'hidden'; tip.style.display = 'none'; });
} }
follow_pointer();
)js";

// Of a page that shows runs while they go on: what it shows is asked for again; where nobody answers, it says so and stays.
inline constexpr std::string_view live_script = R"js(
const ask = async () => {
  let remark = '';
  try {
    const answer = await fetch('content', { cache: 'no-store' });
    if (!answer.ok) throw new Error(await answer.text());
    const text = await answer.text(), place = document.getElementById('content');
    if (text !== place.dataset.shown) { place.innerHTML = text; place.dataset.shown = text; follow_pointer(); }
  } catch (error) { remark = ' (no longer served)'; }
  document.title = document.querySelector('h1').textContent + remark;
  setTimeout(ask, 2000);
};
setTimeout(ask, 2000);
)js";

}  // namespace weft::viz
