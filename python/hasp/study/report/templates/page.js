/* Chooses a study (machine and metric), its programs and its locks, and draws the
   tables and figures of it. The statistics come computed in the data. */
const dashes = ["solid", "dash", "dot", "dashdot", "longdash"];
const FEW_CURVES = 12, TOP_CURVES = 8, MOST_COLOURS = 20;
let chosenProgram = null; // its name, so that another metric keeps it

function fill(id, values) { // values: [value, words]
  const kept = element(id).value;
  element(id).replaceChildren(...values.map(([value, words]) =>
    new Option(words, value)));
  if (values.some(([value]) => value === kept)) element(id).value = kept;
}
const same = (values) => [...new Set(values)].map((value) => [value, value]);
const study = () => data.studies.find((one) => one.machine === element("machine").value
  && one.metric === element("metric").value);
const point = () => element("point").value;

const programTable = new Table("programs", [["program", "words"],
  ["best over worst", "times"], ["deviation", "percent"],
  ["best locks", "words", "long"], ["collapse", "count"], ["cannot tell", "count"]],
{ caption: "Programs", sortBy: 2, most: 500, choose: (place) => choose(place), changed: () => {
    drawLocks(study());
    drawFigures();
  },
  chosen: () => study().programs.indexOf(chosenProgram) });
const lockTable = new Table("locks", [["lock", "words"], ["among the best", "percent"],
  ["harmful", "percent"], ["beats others", "percent"], ["of the best", "percent"],
  ["family", "words"], ["properties", "words"]], { caption: "Locks", sortBy: 2,
  changed: () => drawFigures() });
/* What the tables show: places in the study, in the order of the table. */
const programsShown = () => programTable.sorted().map(([place]) => place);
const locksShown = () => lockTable.sorted().map(([place]) => place);

const known = (value) => value !== null;
/* Each mean at a point of view as a share of the program's best, computed once. */
function shares(one, at) {
  one.shares ??= {};
  return one.shares[at] ??= one.values.map((program) => {
    const largest = program.reduce((last, values) =>
      Math.max(last, values.findLastIndex(known)), 0);
    const worth = (value) => value !== null && one.lower_is_better ? 1 / value : value;
    const means = program.map((values) => {
      if (at === "one") return worth(values[0]);
      if (at === "max") return worth(values[largest]);
      const found = values.filter(known).map(worth);
      return found.length ? Math.max(...found) : null;
    });
    const best = Math.max(...means.filter(known));
    return means.map((value) => value === null ? null : 100 * value / best);
  });
}
function median(values) {
  const found = values.filter(known).sort((a, b) => a - b), half = found.length / 2;
  if (!found.length) return null;
  return found.length % 2 ? found[Math.floor(half)]
    : (found[half - 1] + found[half]) / 2;
}
function average(values) {
  const found = values.filter(known);
  return found.length ? found.reduce((sum, one) => sum + one, 0) / found.length : null;
}

function drawVerdict(one) {
  const lines = (sentences, kind) => sentences.map((sentence) => {
    const line = document.createElement(kind);
    line.textContent = sentence;
    return line;
  });
  element("verdict").replaceChildren(...lines(one.verdict, "p"));
  const origins = data.origins[one.machine] ?? [];
  element("origins-section").hidden = !origins.length;
  element("origins").replaceChildren(...lines(origins, "li"));
}
function drawPrograms(one) {
  const all = element("which").value === "all";
  const gain = (value) => value === null ? null : 1 + value;
  programTable.draw(one.programs.map((name, place) => [place, name,
    gain(one.gain[point()][place]),
    one.deviation[place] === null ? null : 100 * one.deviation[place],
    one.best[place].join(", "),
    one.collapsed[place].filter(Boolean).length, one.unsure[place]])
    .filter(([place]) => all || one.sensitive[place]));
}
function drawLocks(one) {
  const family = element("family").value, property = element("property").value;
  const beats = one.superiority[point() === "opt" ? "opt" : "max"];
  const parts = shares(one, point()), programs = programsShown();
  lockTable.draw(one.locks.map((name, place) => {
    const { family: kind, ...has } = data.locks[name];
    const words = { parks: "parks", fifo: "FIFO", numa: "NUMA-aware" };
    return [place, name, one.coverage[point()][place], one.harmful[point()][place],
      average(beats[place]), median(programs.map((program) => parts[program][place])),
      kind, Object.keys(words).filter((key) => has[key]).map((key) => words[key])
        .join(", ")];
  }).filter(([, name]) => {
    const has = data.locks[name];
    return (family === "all" || has.family === family)
      && (!property || (property === "spin" ? !has.parks : has[property]));
  }));
}
function choose(place) {
  chosenProgram = study().programs[place];
  programTable.draw();
  drawCurves(study());
}

/* Of many locks, those that say most: the best ones, the worst, and what one has. */
function curvesShown(one, program) {
  const parts = shares(one, point())[program];
  const locks = locksShown().filter((lock) => one.values[program][lock].some(known))
    .sort((a, b) => (parts[b] ?? -1) - (parts[a] ?? -1));
  if (element("every").checked || locks.length <= FEW_CURVES)
    return [locks, locks.length];
  const kept = locks.filter((lock, order) => order < TOP_CURVES
    || order === locks.length - 1 || one.locks[lock] === one.reference);
  return [kept, locks.length];
}
function drawCurves(one) {
  const shown = programsShown();
  let program = one.programs.indexOf(chosenProgram);
  if (!shown.includes(program)) program = shown.length ? shown[0] : -1;
  element("curves").hidden = program < 0;
  element("curves-title").textContent = program < 0 ? "Scalability"
    : `Scalability of ${one.programs[program]}`;
  element("curves-note").textContent = "";
  if (program < 0) return;
  if (one.programs[program] !== chosenProgram) {
    chosenProgram = one.programs[program];
    programTable.draw();
  }
  const [locks, all] = curvesShown(one, program);
  element("curves-note").textContent = locks.length < all
    ? `The best ${TOP_CURVES} of ${all} locks, the worst`
      + `${one.reference ? ` and ${one.reference}` : ""}; bars `
      + "are 95 % intervals of the means." : "Bars are 95 % intervals of the means.";
  const traces = locks.map((lock, order) => ({ name: one.locks[lock], x: one.sizes,
    y: one.values[program][lock], mode: "lines+markers", connectgaps: true,
    error_y: { thickness: 1, width: 3, array: one.values[program][lock].map(
      (value, size) => value * (one.half_width[program][lock][size] ?? 0)) },
    line: { color: colours[order % colours.length],
      dash: dashes[Math.floor(order / colours.length) % dashes.length] } }));
  const better = one.lower_is_better ? "less" : "more";
  plot("curves", traces, { height: narrow() ? 420 + 9 * locks.length : 440,
    legend: narrow() ? { orientation: "h", y: -0.15 } : {},
    margin: { l: 70, r: 10, t: 10, b: 50 },
    xaxis: { title: { text: one.size_unit }, tickvals: one.sizes },
    yaxis: { title: { text: `${one.metric} (${better} is better)` },
      rangemode: "tozero" } },
  `${one.metric} of ${chosenProgram} by ${one.size_unit}, a line for each lock`);
}

const manyNames = { tickangle: -60, type: "category", automargin: true,
  showgrid: false };
const rowNames = { autorange: "reversed", type: "category", automargin: true,
  showgrid: false };
const nameSize = () => ({ tickfont: { size: narrow() ? 8 : 11 } });
const bar = () => ({ title: { text: "%" }, thickness: 12 });
function drawHeat(one) {
  const locks = locksShown(), programs = programsShown(), parts = shares(one, point());
  plot("heat", [{ type: "heatmap", colorscale: "Viridis", zmin: 0, zmax: 100,
    x: locks.map((lock) => one.locks[lock]),
    y: programs.map((program) => one.programs[program]),
    z: programs.map((program) => locks.map((lock) => parts[program][lock])),
    hovertemplate: "%{y} under %{x}: %{z:.0f} % of the best<extra></extra>",
    colorbar: bar() }],
  { height: 150 + 18 * programs.length, margin: { l: 60, r: 10, t: 10, b: 90 },
    xaxis: { ...manyNames, ...nameSize() }, yaxis: { ...rowNames, ...nameSize() } },
  "Heat map of locks on programs: each mean as a share of the program's best");
}
function drawCoverage(one) {
  const best = one.coverage[point()], harm = one.harmful[point()];
  const locks = locksShown().filter((lock) => best[lock] !== null);
  const bars = (name, values, color) => ({ type: "bar", name, marker: { color },
    x: locks.map((lock) => one.locks[lock]), y: locks.map((lock) => values[lock]) });
  plot("coverage", [bars("among the best", best, "#009e73"),
    bars("harmful", harm, "#d55e00")], { height: 380,
    margin: { l: 60, r: 10, t: 30, b: 90 }, legend: { orientation: "h", y: 1.12 },
    xaxis: { ...manyNames, ...nameSize() },
    yaxis: { title: { text: "% of programs" }, range: [0, 100] } },
  "Bars: on how many programs each lock is among the best, and harmful");
}
function drawSuperiority(one) {
  const matrix = one.superiority[point() === "opt" ? "opt" : "max"];
  const locks = locksShown(), names = locks.map((lock) => one.locks[lock]);
  plot("superiority", [{ type: "heatmap", colorscale: "RdBu", zmin: 0, zmax: 100,
    reversescale: true, x: names, y: names,
    z: locks.map((row) => locks.map((column) => matrix[row][column])),
    hovertemplate: "%{y} beats %{x} on %{z:.0f} %<extra></extra>", colorbar: bar() }],
  { height: 160 + (narrow() ? 10 : 18) * locks.length,
    margin: { l: 60, r: 10, t: 10, b: 90 },
    xaxis: { ...manyNames, ...nameSize() }, yaxis: { ...rowNames, ...nameSize() } },
  "Heat map of locks against locks: on how many programs the row beats the column");
}
/* The same programs and locks in another metric of the machine, if there is one. */
function drawAgainst(one) {
  const others = data.studies.filter((two) => two.machine === one.machine
    && two !== one).map((two) => two.metric);
  element("against-section").hidden = !others.length;
  if (!others.length) return;
  fill("other", same(others));
  const name = element("other").value;
  const other = data.studies.find((two) => two.machine === one.machine
    && two.metric === name);
  element("against-title").textContent = `${one.metric} against ${name}`;
  const programs = programsShown(), locks = locksShown();
  const r = median(programs.map((program) => one.correlation[name][program]));
  element("against-note").textContent = "Each point is a program under a lock, both "
    + "metrics as shares of the program's best (less being better turned round)."
    + (r === null ? "" : " Over all locks and sizes of a program, Pearson's r is a "
      + `median of ${r.toFixed(2)}.`);
  const parts = [shares(one, point()), shares(other, point())];
  const few = programs.length <= MOST_COLOURS;
  const traces = programs.map((program, order) => {
    const there = other.programs.indexOf(one.programs[program]);
    const pairs = locks.map((lock) => ({ name: one.locks[lock],
      x: parts[0][program][lock], y: parts[1][there]?.[other.locks.indexOf(one.locks[lock])] ?? null }))
      .filter(({ x, y }) => known(x) && known(y));
    return { name: one.programs[program], x: pairs.map(({ x }) => x),
      y: pairs.map(({ y }) => y), text: pairs.map((pair) => pair.name),
      mode: "markers", type: "scatter", showlegend: few,
      marker: { size: 6, color: few ? colours[order % colours.length] : colours[0],
        symbol: order < colours.length || !few ? "circle" : "diamond" },
      hovertemplate: "%{fullData.name} under %{text}: %{x:.0f} %, %{y:.0f} %"
        + "<extra></extra>" };
  });
  plot("against", traces, { height: narrow() ? 560 : 480,
    legend: narrow() ? { orientation: "h", y: -0.2 } : {},
    margin: { l: 60, r: 10, t: 10, b: 50 },
    xaxis: { title: { text: `${one.metric}, % of the best` } },
    yaxis: { title: { text: `${name}, % of the best` } } },
  `Scatter of ${one.metric} against ${name}`);
}

function drawFigures() {
  const one = study();
  drawCurves(one);
  drawHeat(one);
  drawCoverage(one);
  drawSuperiority(one);
  drawAgainst(one);
}
function draw() {
  drawVerdict(study());
  drawPrograms(study());
  drawLocks(study());
  drawFigures();
}
function drawMachine() {
  fill("metric", same(data.studies.filter((one) =>
    one.machine === element("machine").value).map((one) => one.metric)));
  draw();
}
fill("machine", same(data.studies.map((one) => one.machine)));
fill("point", data.points);
element("point").value = "max";
fill("family", [["all", "of any family"],
  ...same(Object.values(data.locks).map((one) => one.family))]);
element("machine").onchange = drawMachine;
for (const id of ["metric", "point", "family", "property", "which"])
  element(id).onchange = draw;
element("every").onchange = () => drawCurves(study());
element("other").onchange = () => drawAgainst(study());
drawMachine();
