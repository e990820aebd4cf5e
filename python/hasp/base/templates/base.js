"use strict";
/* What all pages share: figures in the colours of the style, tables to sort and filter,
   light and dark. A page's own script defines drawFigures(). */
const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
  "#8c564b", "#9467bd", "#7f7f7f", "#bcbd22"];
const narrow = () => window.innerWidth < 640;

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
/* Plotly takes text for markup: `map<int>` would lose its `<int>`. */
const textual = new Set(["name", "labels", "text", "x", "y", "ticktext", "categoryarray"]);
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  return typeof value !== "string" ? value
    : value.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
function escaped(object) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) =>
    [key, textual.has(key) ? plain(value) : value]));
}
/* `words` say what the figure shows to those who cannot see it. */
function plot(id, traces, changes, words) {
  const place = element(id);
  // Plotly draws over what follows unless the place for it is made first.
  place.style.height = `${changes.height}px`;
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", words);
  const axes = Object.fromEntries(["xaxis", "yaxis"].filter((axis) => changes[axis])
    .map((axis) => [axis, escaped(changes[axis])]));
  Plotly.react(id, traces.map(escaped), layout({ ...changes, ...axes }),
    { responsive: true, displayModeBar: false });
}

const digits = (value) => value >= 99.95 ? String(Math.round(value))
  : value.toPrecision(3);
function time(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
    if (ns >= size * 0.9995) return `${digits(ns / size)} ${unit}`;
  return ns ? `${digits(ns)} ns` : "0";
}
/* How the values of a column are written, by its unit. */
const forms = {
  words: String,
  ns: time,
  share: (value) => value && value < 0.0005 ? "<0.1 %"
    : `${(100 * value).toFixed(value && value < 0.0995 ? 1 : 0)} %`,
  percent: (value) => `${Math.round(value)} %`,
  times: (value) => `${value >= 9995 ? value.toLocaleString("en",
    { maximumFractionDigits: 0 }) : digits(value)}x`,
  count: (value) => Number.isInteger(value) ? value.toLocaleString("en")
    : digits(value),
};
const shown = (value, unit) => value === null || value === undefined ? ""
  : forms[unit](value);

/* What a reader types above a column, as a test of its values: `mcs, clh` for words,
   `> 2`, `<= 5 %`, `1 ms` (at least) for numbers. null: not understood. */
const scales = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
function condition(text, unit) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return () => true;
  if (unit === "words") {
    const parts = wanted.split(",").map((part) => part.trim()).filter(Boolean);
    return (value) => parts.some((part) => String(value).toLowerCase().includes(part));
  }
  const found = /^([<>]=?|=)?\s*(\d+\.?\d*|\.\d+)\s*(ns|us|ms|s|%|x)?$/.exec(wanted);
  if (!found) return null;
  const [, sign = ">=", number, suffix] = found;
  const limit = number * (unit === "ns" ? scales[suffix] ?? 1
    : unit === "share" ? 0.01 : 1);
  const tests = { "<": (v) => v < limit, "<=": (v) => v <= limit,
    "=": (v) => v === limit, ">": (v) => v > limit, ">=": (v) => v >= limit };
  return (value) => value !== null && value !== undefined && tests[sign](value);
}

/* A table whose headings sort it, with a filter for each column. `columns` are
   [heading, unit, class?]; `rows` are lists: a key, then a value for each column. */
class Table {
  /* `changed` is called after a reader has sorted or filtered. */
  constructor(id, columns, { caption, sortBy = 1, ascending = false, choose, chosen,
    changed = () => {}, most = 200, filters = true } = {}) {
    Object.assign(this, { table: element(id), columns, choose, chosen, changed, most });
    Object.assign(this, { rows: [], by: sortBy, ascending });
    this.tests = columns.map(() => () => true);
    this.table.createCaption().textContent = caption;
    const head = this.table.createTHead();
    this.headings = columns.map((column, place) => this.heading(column, place + 1));
    head.insertRow().append(...this.headings);
    if (filters) head.insertRow().append(...columns.map((column, place) =>
      this.filter(column, place)));
    this.table.createTBody();
  }
  heading([words, unit], place) {
    const cell = document.createElement("th");
    const button = document.createElement("button");
    cell.scope = "col";
    if (unit === "words") cell.className = "words";
    button.type = "button";
    button.textContent = words;
    button.onclick = () => {
      this.ascending = this.by === place ? !this.ascending : unit === "words";
      this.by = place;
      this.draw();
      this.changed();
    };
    cell.append(button);
    return cell;
  }
  filter([words, unit], place) {
    const cell = document.createElement("td"), box = document.createElement("input");
    box.type = "search";
    box.ariaLabel = `filter by ${words}`;
    box.title = unit === "words" ? "part of it; several with commas"
      : "a number, or as: > 2";
    box.placeholder = unit === "words" ? "filter" : ">";
    box.oninput = () => {
      const test = condition(box.value, unit);
      box.ariaInvalid = String(!test);
      this.tests[place] = test ?? (() => true);
      this.draw();
      this.changed();
    };
    cell.append(box);
    return cell;
  }
  matching() {
    return this.rows.filter((row) => this.tests.every((test, place) =>
      test(row[place + 1])));
  }
  sorted() {
    const worth = (row) => row[this.by] ?? -Infinity;
    return this.matching().sort((a, b) => {
      const [x, y] = [worth(a), worth(b)];
      const order = typeof x === "string" ? x.localeCompare(y) : x - y;
      return this.ascending ? order : -order;
    });
  }
  /* Shows these rows, or those it has; returns them as they are shown. */
  draw(rows = this.rows) {
    this.rows = rows;
    this.headings.forEach((cell, place) => {
      cell.ariaSort = place + 1 !== this.by ? null
        : this.ascending ? "ascending" : "descending";
    });
    const body = document.createElement("tbody"), found = this.sorted();
    for (const row of found.slice(0, this.most)) body.append(this.line(row));
    if (found.length > this.most) {
      const cell = body.insertRow().insertCell();
      const button = document.createElement("button");
      cell.colSpan = this.columns.length;
      const more = found.length - this.most;
      button.textContent = `show ${more.toLocaleString("en")} more`;
      button.onclick = () => { this.most = Infinity; this.draw(); };
      cell.append(button);
    }
    this.table.tBodies[0].replaceWith(body);
    return found;
  }
  line(row) {
    const line = document.createElement("tr");
    this.columns.forEach(([, unit, kind], place) => {
      const cell = line.insertCell();
      cell.textContent = shown(row[place + 1], unit);
      cell.className = [unit === "words" ? "words" : "", kind ?? ""].join(" ").trim();
    });
    if (this.choose) {
      line.tabIndex = 0;
      if (row[0] === this.chosen()) line.ariaCurrent = "true";
      line.onclick = () => this.choose(row[0]);
      line.onkeydown = (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        const place = line.sectionRowIndex;
        this.choose(row[0]);
        this.table.tBodies[0].rows[place]?.focus();
      };
    }
    return line;
  }
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => document.documentElement.dataset.theme
  || (dark.matches ? "dark" : "light");
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  drawFigures();
}
element("theme").onclick = () => setTheme(theme() === "dark" ? "light" : "dark");
dark.onchange = () => drawFigures();
/* Paper is white. */
let beforePrint = "";
window.onbeforeprint = () => { beforePrint = theme(); setTheme("light"); };
window.onafterprint = () => setTheme(beforePrint);
