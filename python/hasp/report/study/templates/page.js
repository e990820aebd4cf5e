"use strict";
/* Chooses a study (machine and metric) and its locks and programs by the filters, and
   draws the tables and figures from it. All numbers come computed in the data. */
const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
  "#000000", "#8c564b", "#9467bd", "#7f7f7f", "#bcbd22"];
const dashes = ["solid", "dash", "dot", "dashdot"];
const layout = { margin: { l: 110, r: 10, t: 30, b: 90 }, font: { size: 12 },
  paper_bgcolor: "#fff", plot_bgcolor: "#fff" };
const options = { responsive: true, displaylogo: false,
  modeBarButtonsToRemove: ["lasso2d", "select2d"] };
let chosenProgram = null;
let sorting = { column: 1, ascending: false };

/* Plotly draws over what follows unless the place for it is made first. */
function plot(id, traces, figure) {
  element(id).style.height = `${figure.height}px`;
  Plotly.react(id, traces, figure, options);
}
const unique = (list) => [...new Set(list)];
function fill(id, values) {
  const kept = element(id).value;
  element(id).replaceChildren(...values.map((value) => new Option(value, value)));
  if (values.includes(kept)) element(id).value = kept;
}
const study = () => data.studies.find((one) => one.machine === element("machine").value
  && one.metric === element("metric").value);

function locksShown(one) {
  const family = element("family").value, property = element("property").value;
  return one.locks.map((name, place) => ({ name, place })).filter(({ name }) => {
    const known = data.locks[name];
    return (family === "all" || known.family === family)
      && (!property || (property === "spin" ? !known.parks : known[property]));
  });
}
function programsShown(one) {
  const which = element("which").value, name = element("name").value.toLowerCase();
  return one.programs.map((program, place) => ({ name: program, place }))
    .filter(({ name: program, place }) => (which === "all" || one.sensitive[place])
      && program.toLowerCase().includes(name));
}
/* The mean of a program under a lock at the chosen point of view. */
function mean(one, program, lock, point) {
  const values = one.values[program][lock];
  if (point === "one") return values[0];
  if (point === "opt") return one.values[program][lock].reduce(
    (best, value) => value !== null && (best === null || value > best) ? value : best,
    null);
  for (let size = one.sizes.length - 1; size >= 0; size--)
    if (one.values[program].some((row) => row[size] !== null)) return values[size];
  return null;
}
function share(one, program, lock, point) {
  const all = one.locks.map((_, place) => mean(one, program, place, point))
    .filter((value) => value !== null);
  const value = mean(one, program, lock, point);
  return value === null || !all.length ? null : value / Math.max(...all);
}
const times = (gain) => gain === null ? "" : `${(1 + gain).toPrecision(3)}x`;
const percent = (value) => value === null ? "" : `${Math.round(value)} %`;

function drawVerdict(one) {
  element("verdict").replaceChildren(...one.verdict.map((sentence) => {
    const line = document.createElement("p");
    line.textContent = sentence;
    return line;
  }));
}
function drawPrograms(one, point) {
  const heads = ["program", "best over worst", "deviation", "best locks", "collapse",
    "cannot tell"];
  const rows = programsShown(one).map(({ name, place }) => ({ place, cells: [name,
    one.gain[point][place], one.deviation[place], one.best[place].join(", "),
    one.locks.filter((_, lock) => one.collapsed[place][lock]).length,
    one.unsure[place]] }));
  const text = (value) => value === null ? -Infinity : value;
  rows.sort((a, b) => {
    const [x, y] = [a, b].map((row) => text(row.cells[sorting.column]));
    const order = typeof x === "string" ? x.localeCompare(y) : x - y;
    return sorting.ascending ? order : -order;
  });
  const table = element("programs");
  table.replaceChildren();
  const head = table.createTHead().insertRow();
  heads.forEach((words, column) => {
    const cell = document.createElement("th");
    cell.textContent = words;
    cell.scope = "col";
    if (column === 3) cell.className = "words";
    if (column === sorting.column)
      cell.ariaSort = sorting.ascending ? "ascending" : "descending";
    cell.onclick = () => {
      sorting = { column, ascending: sorting.column === column && !sorting.ascending };
      drawPrograms(one, point);
    };
    head.append(cell);
  });
  const body = table.createTBody();
  for (const { place, cells } of rows) {
    const row = body.insertRow();
    row.tabIndex = 0;
    const [name, gain, deviation, best, falls, unsure] = cells;
    [name, times(gain), percent(deviation === null ? null : 100 * deviation), best,
      falls || "", unsure || ""].forEach((words, column) => {
      const cell = row.insertCell();
      cell.textContent = words;
      if (column === 3) cell.className = "words";
    });
    row.onclick = row.onkeydown = (event) => {
      if (event.type === "keydown" && event.key !== "Enter") return;
      chosenProgram = name;
      drawCurves(one);
    };
  }
}
function drawCurves(one) {
  const shown = [...element("programs").tBodies[0].rows];
  const named = (row) => row.cells[0].textContent;
  if (!shown.some((row) => named(row) === chosenProgram))
    chosenProgram = shown.length ? named(shown[0]) : null;
  for (const row of shown) row.classList.toggle("chosen", named(row) === chosenProgram);
  element("curves-title").textContent = chosenProgram === null ? "Scalability"
    : `Scalability of ${chosenProgram}`;
  const program = one.programs.indexOf(chosenProgram);
  const traces = program < 0 ? [] : locksShown(one).map(({ name, place }, order) => ({
    name, x: one.sizes, y: one.values[program][place], mode: "lines+markers",
    connectgaps: true, line: { color: colours[order % colours.length],
      dash: dashes[Math.floor(order / colours.length) % dashes.length] } }))
    .filter((trace) => trace.y.some((value) => value !== null));
  const narrow = window.innerWidth < 640;
  plot("curves", traces, { ...layout, height: narrow ? 640 : 440,
    legend: narrow ? { orientation: "h", y: -0.15 } : {},
    margin: { ...layout.margin, l: 70, b: 50 }, xaxis: { title: { text: one.size_unit }, tickvals: one.sizes },
    yaxis: { title: { text: one.metric }, rangemode: "tozero" } });
}
function drawHeat(one, point) {
  const locks = locksShown(one), programs = programsShown(one);
  plot("heat", [{ type: "heatmap", colorscale: "Viridis", zmin: 0, zmax: 100,
    x: locks.map(({ name }) => name), y: programs.map(({ name }) => name),
    z: programs.map(({ place }) => locks.map((lock) => {
      const part = share(one, place, lock.place, point);
      return part === null ? null : 100 * part;
    })), hovertemplate: "%{y} under %{x}: %{z:.0f} % of the best<extra></extra>",
    colorbar: { title: { text: "%" }, thickness: 12 } }],
  { ...layout, height: 140 + 18 * programs.length,
    xaxis: { tickangle: -60, type: "category" },
    yaxis: { autorange: "reversed", type: "category" } });
}
function drawCoverage(one, point) {
  const locks = locksShown(one).filter(({ place }) =>
    one.coverage[point][place] !== null);
  locks.sort((a, b) => one.coverage[point][b.place] - one.coverage[point][a.place]);
  const bar = (name, values, color) => ({ type: "bar", name, marker: { color },
    x: locks.map((lock) => lock.name), y: locks.map(({ place }) => values[place]) });
  plot("coverage", [bar("among the best", one.coverage[point], "#009e73"),
    bar("harmful", one.harmful[point], "#d55e00")], { ...layout, height: 380,
    xaxis: { tickangle: -60, type: "category" }, legend: { orientation: "h", y: 1.1 },
    yaxis: { title: { text: "% of programs" }, range: [0, 100] } });
}
function drawSuperiority(one, point) {
  const matrix = one.superiority[point === "opt" ? "opt" : "max"];
  const locks = locksShown(one), names = locks.map(({ name }) => name);
  plot("superiority", [{ type: "heatmap", colorscale: "RdBu", zmin: 0,
    zmax: 100, reversescale: true, x: names, y: names,
    z: locks.map((row) => locks.map((column) => matrix[row.place][column.place])),
    hovertemplate: "%{y} beats %{x} on %{z:.0f} %<extra></extra>",
    colorbar: { title: { text: "%" }, thickness: 12 } }],
  { ...layout, height: 160 + 18 * locks.length,
    xaxis: { tickangle: -60, type: "category" },
    yaxis: { autorange: "reversed", type: "category" } });
}
/* The same program and lock in another metric of the machine, if there is one. */
function drawAgainst(one, point) {
  const other = data.studies.find((two) => two.machine === one.machine
    && two.metric !== one.metric);
  element("against-section").hidden = !other;
  if (!other) return;
  element("against-name").textContent = other.metric;
  const traces = locksShown(one).map(({ name, place }, order) => {
    const second = other.locks.indexOf(name), x = [], y = [], text = [];
    for (const program of programsShown(one)) {
      const there = other.programs.indexOf(program.name);
      if (there < 0 || second < 0) continue;
      const pair = [share(one, program.place, place, point),
        share(other, there, second, point)];
      if (pair.includes(null)) continue;
      x.push(100 * pair[0]);
      y.push(100 * pair[1]);
      text.push(program.name);
    }
    return { name, x, y, text, mode: "markers", type: "scatter",
      marker: { color: colours[order % colours.length], size: 6 },
      hovertemplate: `%{text}, ${name}: %{x:.0f} %, %{y:.0f} %<extra></extra>` };
  });
  plot("against", traces, { ...layout, height: 480, margin: { ...layout.margin,
    l: 70, b: 60 }, xaxis: { title: { text: `${one.metric}, % of the best` } },
    yaxis: { title: { text: `${other.metric}, % of the best` } } });
}
function draw() {
  const one = study(), point = element("point").value;
  drawVerdict(one);
  drawPrograms(one, point);
  drawCurves(one);
  drawHeat(one, point);
  drawCoverage(one, point);
  drawSuperiority(one, point);
  drawAgainst(one, point);
}
function drawMachine() {
  fill("metric", data.studies.filter((one) => one.machine === element("machine").value)
    .map((one) => one.metric));
  draw();
}
fill("machine", unique(data.studies.map((one) => one.machine)));
fill("point", data.points);
element("point").value = "max";
fill("family", ["all", ...unique(Object.values(data.locks).map((one) => one.family))]);
element("machine").onchange = drawMachine;
for (const id of ["metric", "point", "family", "property", "which"])
  element(id).onchange = draw;
element("name").oninput = draw;
drawMachine();
