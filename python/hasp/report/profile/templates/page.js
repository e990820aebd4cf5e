"use strict";
/* Draws the tables and figures from the data, which come computed; sorts, filters, and
   shows what is chosen. */
const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
  "#8c564b", "#9467bd", "#7f7f7f", "#bcbd22"];
const ROWS = 200;
const options = { responsive: true, displayModeBar: false };
let chosen = data.sites.length ? data.sites[0][0] : null;
let weight = "wait";

/* The style's colours, so that figures follow light, dark and print. */
const colour = (name) => getComputedStyle(document.documentElement)
  .getPropertyValue(name).trim();
function layout(changes) {
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"),
    linecolor: colour("--line") };
  const { xaxis, yaxis, ...others } = changes;
  return { font: { size: 12, color: colour("--ink") }, paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 60, r: 10, t: 30, b: 45 }, ...others,
    xaxis: { ...axis, ...xaxis }, yaxis: { ...axis, ...yaxis } };
}
/* Plotly draws over what follows unless the place for it is made first. */
function plot(id, traces, changes) {
  element(id).style.height = `${changes.height}px`;
  Plotly.react(id, traces, layout(changes), options);
}

function time(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
    if (ns >= size * 0.9995) return `${digits(ns / size)} ${unit}`;
  return ns ? `${digits(ns)} ns` : "0";
}
const digits = (value) => value >= 99.95 ? String(Math.round(value))
  : value.toPrecision(3);
function shown(value, unit) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (unit === "ns") return time(value);
  if (unit === "share") return value && value < 0.0005 ? "<0.1 %"
    : `${(100 * value).toFixed(value && value < 0.0995 ? 1 : 0)} %`;
  return Number.isInteger(value) ? value.toLocaleString("en") : digits(value);
}

/* A table whose headings sort it. `rows` are lists: a key, then a value per column. */
class Sortable {
  constructor(id, columns, rows, { sortBy, key, choose } = {}) {
    Object.assign(this, { table: element(id), columns, rows, choose, key });
    this.by = sortBy ?? 1;
    this.ascending = false;
    this.filter = "";
    this.most = ROWS;
  }
  matching() {
    const text = this.filter.toLowerCase();
    return this.rows.filter((row) => String(row[1]).toLowerCase().includes(text));
  }
  sorted() {
    const worth = (row) => row[this.by] ?? -Infinity;
    return this.matching().sort((a, b) => {
      const [x, y] = [worth(a), worth(b)];
      const order = typeof x === "string" ? x.localeCompare(y) : x - y;
      return this.ascending ? order : -order;
    });
  }
  draw() {
    this.table.replaceChildren();
    const head = this.table.createTHead().insertRow();
    this.columns.forEach(([words], place) => head.append(this.heading(words, place + 1)));
    const body = this.table.createTBody(), rows = this.sorted();
    for (const row of rows.slice(0, this.most)) body.append(this.line(row));
    if (rows.length > this.most) {
      const cell = body.insertRow().insertCell(), button = document.createElement("button");
      cell.colSpan = this.columns.length;
      button.textContent = `show ${(rows.length - this.most).toLocaleString("en")} more`;
      button.onclick = () => { this.most = Infinity; this.draw(); };
      cell.append(button);
    }
    return rows.length;
  }
  heading(words, place) {
    const cell = document.createElement("th");
    cell.textContent = words;
    cell.scope = "col";
    cell.tabIndex = 0;
    if (place === this.by) cell.ariaSort = this.ascending ? "ascending" : "descending";
    cell.onclick = cell.onkeydown = (event) => {
      if (event.type === "keydown" && event.key !== "Enter") return;
      this.ascending = this.by === place ? !this.ascending : place === 1;
      this.by = place;
      this.draw();
    };
    return cell;
  }
  line(row) {
    const line = document.createElement("tr");
    this.columns.forEach(([, unit], place) => {
      line.insertCell().textContent = shown(row[place + 1], unit);
    });
    if (this.choose) {
      line.tabIndex = 0;
      line.classList.toggle("chosen", row[0] === chosen);
      line.onclick = line.onkeydown = (event) => {
        if (event.type === "keydown" && event.key !== "Enter") return;
        this.choose(row[0]);
      };
    }
    return line;
  }
}

const siteColumns = [["lock", "words"], ["kind", "words"],
  ...data.columns.map(({ heading, unit }) => [heading, unit])];
const sites = new Sortable("sites", siteColumns, data.sites, { sortBy: 3,
  choose: (number) => { chosen = number; drawSites(); drawSite(); } });
const threads = new Sortable("threads",
  [["thread", "words"], ...data.thread_columns], data.threads, { sortBy: 3 });
const idle = new Sortable("idle", [["site", "words"], ["kind", "words"],
  ["waits", "count"], ["idle time", "ns"], ["p50", "ns"], ["p99", "ns"],
  ["signals", "count"], ["broadcasts", "count"], ["timeouts", "count"]],
data.idle.map((row) => [row[0], ...row]), { sortBy: 4 });

function drawSites() {
  const number = sites.draw();
  element("shown").textContent = `${number.toLocaleString("en")} of `
    + `${data.sites.length.toLocaleString("en")} sites`;
}

function listing(title, lines) {
  const head = document.createElement("div"), body = document.createElement("pre");
  head.className = "note";
  head.textContent = title;
  body.textContent = lines.join("\n");
  return lines.length ? [head, body] : [];
}
function drawSite() {
  const details = data.details[chosen];
  element("site").hidden = chosen === null;
  if (chosen === null) return;
  element("site-title").textContent = data.names[chosen];
  element("histograms").hidden = !details;
  element("stacks").replaceChildren();
  element("members").replaceChildren();
  if (!details) {
    element("stacks").textContent = "This page has details of the larger sites only: "
      + "hasp report --expand shows this one.";
    return;
  }
  const names = { wait: "waits", hold: "holds", handover: "handovers" };
  const traces = Object.entries(names).map(([kind, name], place) => {
    const bars = details.histograms[kind];
    const total = bars.reduce((sum, bar) => sum + bar[2], 0);
    return { type: "bar", name, marker: { color: colours[place] },
      x: bars.map(([low]) => time(low)), y: bars.map((bar) => 100 * bar[2] / total),
      customdata: bars.map(([low, high, count]) =>
        [time(low), time(high), count.toLocaleString("en")]),
      hovertemplate: `%{customdata[0]} to %{customdata[1]}: %{customdata[2]} ${name}`
        + "<extra></extra>" };
  }).filter((trace) => trace.x.length);
  const bounds = new Map(Object.values(details.histograms).flat()
    .map(([low]) => [time(low), low]));
  plot("histograms", traces, { height: 300, legend: { orientation: "h", y: 1.15 },
    xaxis: { type: "category", categoryorder: "array",
      categoryarray: [...bounds].sort((a, b) => a[1] - b[1]).map(([words]) => words),
      title: { text: "from" } },
    yaxis: { title: { text: "% of those timed" }, rangemode: "tozero" } });
  element("stacks").append(...listing("created", details.created),
    ...listing("first used", details.first));
  drawMembers(details);
}
function drawMembers({ instances, locks }) {
  const head = document.createElement("div"), box = document.createElement("div");
  const table = document.createElement("table");
  head.className = "note";
  head.textContent = `${instances.toLocaleString("en")} ${instances === 1 ? "lock" : "locks"
  }${instances > locks.length ? `, those that were waited for longest` : ""}`;
  box.className = "scroll";
  box.append(table);
  element("members").append(head, box);
  table.id = "locks";
  new Sortable("locks", [["address", "words"], ["taken", "count"], ["waited", "count"],
    ["wait", "ns"], ["hold", "ns"], ["owner changes", "count"]], locks,
  { sortBy: 4 }).draw();
}

function drawFlame() {
  const { labels, parents, values } = data.flame[weight];
  element("flame-section").hidden = data.flame.wait.labels.length < 2
    && data.flame.hold.labels.length < 2;
  for (const kind of ["wait", "hold"])
    element(`flame-${kind}`).ariaPressed = String(kind === weight);
  if (element("flame-section").hidden) return;
  const ids = labels.map((_, place) => String(place));
  const tint = (label) => [...label].reduce((sum, letter) =>
    (31 * sum + letter.codePointAt(0)) % 997, 7) % colours.length;
  plot("flame", [{ type: "icicle", ids, labels, values, branchvalues: "total",
    parents: parents.map((place) => place < 0 ? "" : String(place)), sort: true,
    text: values.map(time), textinfo: "label+text",
    marker: { colors: labels.map((label) => colours[tint(label)]),
      line: { width: 1, color: colour("--paper") } }, opacity: 0.9,
    textfont: { color: "#fff" }, pathbar: { visible: true, side: "top" },
    tiling: { orientation: "v", pad: 1 },
    hovertemplate: "%{label}<br>%{text}, %{percentRoot:.1%}<extra></extra>" }],
  { height: 460, margin: { l: 5, r: 5, t: 25, b: 5 } });
}

const seconds = () => data.timeline.waiters.length
  ? data.timeline.waiters[0].map((_, bin) => (bin + 0.5) * data.timeline.bin_ns / 1e9)
  : [];
const short = (name) => name.length > 28 ? `${name.slice(0, 27)}\u2026` : name;
function drawOverview() {
  const { sites: numbers, waiters } = data.timeline;
  element("timeline-section").hidden = !numbers.length;
  if (!numbers.length) return;
  const narrow = window.innerWidth < 640;
  plot("overview", [{ type: "heatmap", x: seconds(), z: waiters, zmin: 0,
    y: numbers.map((_, place) => place), colorscale: [[0, colour("--tint")],
      [0.02, "#fdd49e"], [0.4, "#ef6548"], [1, "#7f0000"]],
    text: numbers.map((number) => seconds().map(() => data.names[number] ?? `site ${number}`)),
    hovertemplate: "%{text}<br>%{x:.3f} s: %{z:.1f} waiting<extra></extra>",
    colorbar: { title: { text: "waiters" }, thickness: 12 } }],
  { height: 110 + 24 * numbers.length, margin: { l: narrow ? 90 : 190, r: 10, t: 10, b: 40 },
    xaxis: { title: { text: "seconds" }, showgrid: false },
    yaxis: { tickvals: numbers.map((_, place) => place), autorange: "reversed",
      ticktext: numbers.map((number) =>
        short(data.names[number] ?? `site ${number}`).slice(0, narrow ? 13 : 28)),
      showgrid: false } });
}
function drawTimeline() {
  const { sites: numbers, waiters, holders } = data.timeline;
  const place = numbers.indexOf(Number(element("lock").value));
  if (place < 0) return;
  const x = seconds(), half = data.timeline.bin_ns / 1e9;
  const names = new Map(data.threads.map((row) => [row[0], row[1]]));
  const traces = [{ x, y: waiters[place], type: "scatter", mode: "lines", name: "waiters",
    line: { shape: "hvh", color: colour("--mark"), width: 1.5 }, fill: "tozeroy" }];
  const who = [...new Set(holders[place])].filter((number) => number);
  who.forEach((number, order) => traces.push({ type: "bar", width: half, yaxis: "y2",
    name: `held by ${names.get(number) ?? `thread ${number}`}`, x,
    y: holders[place].map((holder) => holder === number ? 1 : null),
    marker: { color: colours[order % colours.length], line: { width: 0 } },
    showlegend: order < 12, hovertemplate: "%{x:.3f} s<extra>%{fullData.name}</extra>" }));
  plot("timeline", traces, { height: 340, barmode: "stack", bargap: 0,
    legend: { orientation: "h", y: -0.25 }, margin: { l: 60, r: 10, t: 10, b: 60 },
    xaxis: { title: { text: "seconds" }, range: [0, data.duration_ns / 1e9],
      anchor: "free", position: 0 },
    yaxis: { title: { text: "waiters" }, rangemode: "tozero", domain: [0.16, 1] },
    yaxis2: { domain: [0.02, 0.12], visible: false, range: [0, 1], fixedrange: true } });
}
function drawMoments() {
  const { at_ns: at, ...lines } = data.moments;
  element("moments").hidden = !at.length;
  if (!at.length) return;
  const x = at.map((ns) => ns / 1e9);
  plot("moments", Object.entries(lines).map(([name, y], place) => ({ x, y, name,
    type: "scatter", mode: "lines", line: { shape: "hv", color: colours[place] } })),
  { height: 240, legend: { orientation: "h", y: 1.2 },
    xaxis: { title: { text: "seconds" } }, yaxis: { rangemode: "tozero" } });
}

function drawFigures() {
  drawSite();
  drawFlame();
  drawOverview();
  drawTimeline();
  drawMoments();
}
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  drawFigures();
}
const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => document.documentElement.dataset.theme
  || (dark.matches ? "dark" : "light");
element("theme").onclick = () => setTheme(theme() === "dark" ? "light" : "dark");
dark.onchange = drawFigures;
let beforePrint = "";
window.onbeforeprint = () => { beforePrint = theme(); setTheme("light"); };
window.onafterprint = () => setTheme(beforePrint);

element("filter").oninput = () => { sites.filter = element("filter").value; drawSites(); };
for (const kind of ["wait", "hold"])
  element(`flame-${kind}`).onclick = () => { weight = kind; drawFlame(); };
element("lock").replaceChildren(...data.timeline.sites.map((number) =>
  new Option(data.names[number] ?? `site ${number}`, number)));
element("lock").onchange = drawTimeline;
element("idle-section").hidden = !data.idle.length;
drawSites();
threads.draw();
idle.draw();
drawFigures();
