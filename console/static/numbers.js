// Draws each figure by day: its line, the band of its 95 % interval, and what was timed also at its 95th percentile.
"use strict";

const DAY_S = 86400;

function tint(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function told(unit) {
  return (self, value) => {
    if (value === null || value === undefined) return "–";
    if (unit === "share") return `${value.toFixed(0)} %`;
    if (unit === "seconds" && value < 1) return `${Math.round(value * 1000)} ms`;
    if (unit === "seconds") return value < 10 ? `${value.toFixed(1)} s` : window.Interlock.length(value);
    return Math.abs(value) >= 10 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(2);
  };
}

function draw(place) {
  const told_of = JSON.parse(place.dataset.chart);
  const unit = told_of.unit;
  const times = told_of.days.map((day) => Date.parse(`${day}T00:00:00Z`) / 1000);
  const line = tint("--accent");
  const faint = tint("--faint");
  const clear = "rgb(0 0 0 / 0)";
  const format = told(unit);
  const series = [
    {},
    { stroke: clear, points: { show: false } },
    { stroke: clear, points: { show: false } },
    { stroke: line, width: 2, points: { show: times.length < 3 } }, // after the band, so that it is drawn over it
  ];
  const data = [times, told_of.low, told_of.high, told_of.value];
  if (unit === "seconds") {
    series.push({ stroke: faint, width: 1, dash: [4, 3], points: { show: false } });
    data.push(told_of.p95);
  }
  const axis = { stroke: faint, grid: { stroke: tint("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
  place.replaceChildren();
  const reading = place.nextElementSibling;
  const read = (chart) => {
    const at = chart.cursor.idx;
    if (at === null || at === undefined) reading.textContent = "";
    else {
      const timed = unit === "seconds" ? `, 95th percentile ${format(chart, told_of.p95[at])}` : "";
      const known = told_of.low[at] !== null && told_of.high[at] !== null;
      const band = known ? ` (${format(chart, told_of.low[at])} to ${format(chart, told_of.high[at])})` : "";
      reading.textContent = `${told_of.days[at]}: ${format(chart, told_of.value[at])}${band}${timed}, n = ${told_of.n[at]}`;
    }
  };
  return new uPlot(
    {
      width: place.clientWidth,
      height: 120,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
      legend: { show: false },
      hooks: { setCursor: [read] },
      cursor: { y: false },
      scales: { x: { range: () => (times.length === 1 ? [times[0] - DAY_S, times[0] + DAY_S] : [times[0], times.at(-1)]) }, y: { range: (self, low, high) => [unit === "share" ? 0 : Math.min(0, low), unit === "share" ? 100 : high > 0 ? high * 1.1 : 1] } },
      bands: [{ series: [2, 1], fill: tint("--accent-soft") }],
      axes: [{ ...axis, size: 26, incrs: [1, 2, 7, 14, 30].map((days) => days * DAY_S), values: (self, ticks) => ticks.map((tick) => new Date(tick * 1000).toISOString().slice(5, 10)), space: 48 }, { ...axis, size: 46, values: (self, ticks) => ticks.map((tick) => format(self, tick)) }],
      series,
    },
    data,
    place,
  );
}

let charts = [];
function all() {
  for (const chart of charts) chart.destroy();
  charts = [...document.querySelectorAll("[data-chart]")].map(draw);
}
document.addEventListener("htmx:after:swap", all);
document.addEventListener("change", (event) => event.target.closest("#choice")?.requestSubmit());
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
let pause = 0;
window.addEventListener("resize", () => {
  clearTimeout(pause);
  pause = setTimeout(all, 150);
});
