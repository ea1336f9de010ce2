// Adds to pages that work without it: pickers that submit themselves, the keys / j k, confirmations, charts.
"use strict";

document.documentElement.classList.add("scripted");

document.addEventListener("change", (e) => {
  if (e.target.matches("[data-submit]")) e.target.form.requestSubmit();
});

// A form that destroys something names what is to be typed, or asks once.
document.addEventListener("submit", (e) => {
  const question = e.target.dataset.confirm;
  if (question && !window.confirm(question)) e.preventDefault();
});

// Keys: / goes to the search box, j and k go through the rows, [ and ] to the page before and behind.
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, textarea, select, [contenteditable]")) return;
  const go = (selector) => { const el = document.querySelector(selector); if (el) { e.preventDefault(); el.focus(); } };
  const step = (by) => {
    const rows = [...document.querySelectorAll("main tbody a, main [data-row] a")].filter((a) => !a.closest("[hidden]"));
    const at = rows.indexOf(document.activeElement);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next) { e.preventDefault(); next.focus(); }
  };
  const follow = (rel) => { const a = document.querySelector(`a[rel=${rel}]`); if (a) a.click(); };
  switch (e.key) {
    case "/": go("main input[type=search], main input[type=text]"); break;
    case "j": step(1); break;
    case "k": step(-1); break;
    case "]": follow("next"); break;
    case "[": follow("prev"); break;
  }
});

// rag is what the scripts of pages share.
const rag = {
  // say tells a reader who cannot see the page of something that happened.
  say(text) { document.getElementById("live").textContent = text; },

  // events follows a stream. The browser comes back by itself with the ID of the last event; after two failures in a row the
  // page is asked for every two seconds instead, by poll.
  events(url, on, poll) {
    const source = new EventSource(url);
    let failures = 0;
    for (const [name, handle] of Object.entries(on)) {
      source.addEventListener(name, (e) => { failures = 0; handle(JSON.parse(e.data), source); });
    }
    source.onerror = () => {
      if (++failures < 2 && source.readyState !== EventSource.CLOSED) return;
      source.close();
      if (poll) { const timer = setInterval(() => poll(() => clearInterval(timer)), 2000); }
    };
    return source;
  },

  // chart draws the table that an element names in data-table as lines over time: the first column holds times in seconds, each
  // further one a line. The table stays, for readers who cannot see the chart.
  chart(el) {
    const table = document.getElementById(el.dataset.table);
    if (!table || typeof uPlot === "undefined") return;
    const heads = [...table.tHead.rows[0].cells].map((c) => c.textContent.trim());
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 2) return;
    const data = heads.map((_, i) => rows.map((r) => { const v = r.cells[i].dataset.value; return v === undefined || v === "" ? null : Number(v); }));
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--ink"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 } };
    const dashes = [[], [6, 4], [2, 3], [10, 4, 2, 4]]; // lines differ by more than colour
    const series = heads.map((h, i) => i === 0 ? { label: h } : { label: h, stroke: color(`--c${(i - 1) % 6 + 1}`), width: 2, dash: dashes[(i - 1) % dashes.length], points: { size: 5 } });
    const unit = el.dataset.unit || "";
    const width = () => Math.max(280, el.clientWidth);
    const plot = new uPlot({ width: width(), height: 220, series, scales: el.dataset.x === "number" ? { x: { time: false } } : {},
      axes: [axis, { ...axis, size: 64, values: (_, vs) => vs.map((v) => v + unit) }] }, data, el);
    new ResizeObserver(() => plot.setSize({ width: width(), height: 220 })).observe(el);
  },
  charts(root) { for (const el of root.querySelectorAll("[data-table]")) if (!el.firstChild) rag.chart(el); },
};
window.rag = rag;

// times puts the reader's own time before the exact one that a relative time shows on hover.
function times() {
  for (const el of document.querySelectorAll("time[datetime]:not([data-local])")) {
    el.dataset.local = "";
    el.title = new Date(el.dateTime).toLocaleString(document.documentElement.lang) + " (" + el.title + ")";
  }
}

for (const event of ["DOMContentLoaded", "htmx:after:swap"]) {
  document.addEventListener(event, () => { rag.charts(document); times(); });
}
