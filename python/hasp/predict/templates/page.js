/* Draws the answer: a line and the range of all simulations for each lock, site or
   change, over the number of threads. */
const lines = (sentences, kind) => sentences.map((sentence) => {
  const line = document.createElement(kind);
  line.textContent = sentence;
  return line;
});
const distinct = (rows, key) => [...new Set(rows.map(key))];
const faint = (hex) => `rgba(${[1, 3, 5].map((at) =>
  parseInt(hex.slice(at, at + 2), 16)).join(",")},0.15)`;

/* The rows with that name, as a band from `low` to `high` and a line of the medians. */
function curve(rows, name, order, scale = 1) {
  const x = rows.map((row) => row.threads), hue = colours[order % colours.length];
  const of = (key) => rows.map((row) => scale * row[key]);
  const edge = { x, mode: "lines", line: { width: 0 }, hoverinfo: "skip",
    showlegend: false, legendgroup: name };
  return [{ ...edge, y: of("low") },
    { ...edge, y: of("high"), fill: "tonexty", fillcolor: faint(hue) },
    { x, y: of("median"), name, legendgroup: name, mode: "lines+markers",
      line: { color: hue } }];
}
const threadsAxis = () => ({ title: { text: "threads" }, rangemode: "tozero" });
/* CPUs of the machine, where threads outnumber them. */
const cpusLine = () => Math.max(...data.threads) <= data.cpus ? []
  : [{ type: "line", x0: data.cpus, x1: data.cpus, yref: "paper", y0: 0, y1: 1,
    line: { color: colour("--line"), width: 2 } }];
function over(id, rows, key, yaxis, words, { scale = 1, shapes = [] } = {}) {
  const names = distinct(rows, key);
  const traces = names.flatMap((name, order) =>
    curve(rows.filter((row) => key(row) === name), name, order, scale));
  /* Beside the figure, long names would leave it half of the width. */
  const below = narrow() || names.some((name) => name.length > 20);
  plot(id, traces, { height: below ? 420 + 20 * names.length : 440,
    legend: below ? { orientation: "h", y: -0.18 } : {},
    margin: { l: 70, r: 10, t: 10, b: 50 }, shapes: [...cpusLine(), ...shapes],
    xaxis: threadsAxis(), yaxis: { rangemode: "tozero", ...yaxis } }, words);
}

function drawFigures() {
  const last = Math.max(...data.threads);
  const most = (lock) => data.throughput.find((row) => row.lock === lock
    && row.threads === last).median;
  const sorted = [...data.throughput].sort((a, b) => most(b.lock) - most(a.lock)
    || a.threads - b.threads);
  over("throughput", sorted, (row) => row.lock,
    { title: { text: "times the recorded throughput" } },
    "Throughput over threads, a line for each lock");
  over("busy", data.busy, (row) => row.site,
    { title: { text: "% of the time" }, range: [0, 104] },
    "Share of the time in which the locks of each site are not free, over threads",
    { scale: 100, shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1,
      y0: 100 * data.full, y1: 100 * data.full,
      line: { color: colours[1], width: 1, dash: "dot" } }] });
  element("gains-section").hidden = !data.changes.length;
  if (data.changes.length)
    over("gains", data.changes, (row) => `${row.site} ${row.change}`,
      { title: { text: "times the throughput without it" } },
      "Throughput with a change over that without it, a line for each change");
}

element("verdict").replaceChildren(...lines(data.sentences, "p"));
element("throughput-note").textContent = "Medians of all simulations, and their range. "
  + `1 is the recorded ${Math.round(data.recorded.sections_per_s).toLocaleString("en")}`
  + " sections a second.";
element("busy-note").textContent = `Under ${data.reference}: how much of the time the `
  + "busiest lock of each site is held, or wanted. Above the dotted line it is "
  + "saturated: more threads only wait longer.";
element("gains-note").textContent = `Under ${data.reference}.`;
element("assumptions").textContent = data.assumptions;
element("doubts").replaceChildren(...lines(data.doubts, "li"));
new Table("sites", [["lock", "words"], ["kind", "words"], ["locks", "count"],
  ["hold", "ns"], ["inside", "words", "long"]], { caption: "Locks", sortBy: 4,
  filters: false }).draw(data.load.sites.map((site, place) => [place, site.site,
  site.kind, site.locks, site.hold_ns, site.inside.map((one) =>
    `${digits(one.times)} x ${one.site}`).join(", ")]));
new Table("roles", [["threads", "words"], ["recorded", "count"], ["grow", "words"],
  ["between sections", "ns"], ["in the kernel", "ns"], ["waiting for work", "ns"]],
  { caption: "Threads", filters: false }).draw(data.load.roles.map((role, place) =>
    [place, role.name || "threads", role.threads, role.scales ? "yes" : "no",
      role.between_ns, role.kernel_ns, role.waiting_ns]));
drawFigures();
