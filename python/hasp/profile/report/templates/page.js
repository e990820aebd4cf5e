/* Draws the tables and figures of a profile from its data. */
let chosen = data.sites.length ? data.sites[0][0] : null;
let weight = "wait";

const siteColumns = [["lock", "words"], ["kind", "words"],
  ...data.columns.map(({ heading, unit }) => [heading, unit])];
const sites = new Table("sites", siteColumns, { caption: "Locks by site", sortBy: 3,
  chosen: () => chosen, changed: () => countSites(),
  choose: (number) => { chosen = number; drawSites(); drawSite(); } });
const threads = new Table("threads", [["thread", "words"], ...data.thread_columns],
  { caption: "Threads", sortBy: 3 });
const idle = new Table("idle", [["site", "words"], ["kind", "words"],
  ["waits", "count"], ["idle time", "ns"], ["p50", "ns"], ["p99", "ns"],
  ["signals", "count"], ["broadcasts", "count"], ["timeouts", "count"]],
{ caption: "Condition variables and barriers", sortBy: 4 });
const nameOf = (number) => data.names[number] ?? `site ${number}`;

function countSites() {
  element("shown").textContent = `${sites.matching().length.toLocaleString("en")} of `
    + `${data.sites.length.toLocaleString("en")} sites`;
}
function drawSites() {
  sites.draw(data.sites);
  countSites();
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
      title: { text: narrow() ? "" : "duration, at least" } },
    yaxis: { title: { text: "% of timed" }, rangemode: "tozero" } },
  `How long waits, holds and handovers of ${data.names[chosen]} took`);
  element("stacks").append(...listing("created", details.created),
    ...listing("first acquired", details.first));
  drawMembers(details);
}
function drawMembers({ instances, locks }) {
  const head = document.createElement("div"), box = document.createElement("div");
  const table = document.createElement("table");
  head.className = "note";
  head.textContent = `${instances.toLocaleString("en")} lock${instances === 1 ? "" : "s"}`
    + (instances > locks.length ? ", those with the longest waits" : "");
  box.className = "scroll";
  box.append(table);
  element("members").append(head, box);
  table.id = "locks";
  new Table("locks", [["address", "words"], ["taken", "count"], ["waited", "count"],
    ["wait", "ns"], ["hold", "ns"], ["owner changes", "count"]],
  { caption: "Locks of this site", sortBy: 4, filters: false }).draw(locks);
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
  { height: 460, margin: { l: 5, r: 5, t: 25, b: 5 } },
  `Flame graph of the time spent ${weight === "wait" ? "waiting" : "holding"}`);
}

const seconds = () => data.timeline.waiters.length
  ? data.timeline.waiters[0].map((_, bin) => (bin + 0.5) * data.timeline.bin_ns / 1e9)
  : [];
const short = (name) => name.length > 28 ? `${name.slice(0, 27)}\u2026` : name;
function drawOverview() {
  const { sites: numbers, waiters } = data.timeline;
  element("timeline-section").hidden = !numbers.length;
  if (!numbers.length) return;
  plot("overview", [{ type: "heatmap", x: seconds(), z: waiters, zmin: 0,
    y: numbers.map((_, place) => place), colorscale: [[0, colour("--tint")],
      [0.02, "#fdd49e"], [0.4, "#ef6548"], [1, "#7f0000"]],
    text: numbers.map((number) => seconds().map(() => nameOf(number))),
    hovertemplate: "%{text}<br>%{x:.3f} s: %{z:.1f} waiting<extra></extra>",
    colorbar: { title: { text: "waiters" }, thickness: 12 } }],
  { height: 110 + 24 * numbers.length,
    margin: { l: narrow() ? 90 : 190, r: 10, t: 10, b: 40 },
    xaxis: { title: { text: "seconds" }, showgrid: false },
    yaxis: { tickvals: numbers.map((_, place) => place), autorange: "reversed",
      ticktext: numbers.map((number) =>
        short(nameOf(number)).slice(0, narrow() ? 13 : 28)),
      showgrid: false } }, "Waiters of each lock over time");
}
function drawTimeline() {
  const { sites: numbers, waiters, holders, on_cpu: running } = data.timeline;
  const place = numbers.indexOf(Number(element("lock").value));
  if (place < 0) return;
  const x = seconds(), half = data.timeline.bin_ns / 1e9;
  const names = new Map(data.threads.map((row) => [row[0], row[1]]));
  const traces = [{ x, y: waiters[place], type: "scatter", mode: "lines", name: "waiters",
    line: { shape: "hvh", color: colour("--mark"), width: 1.5 }, fill: "tozeroy" }];
  if (running[place].some((share) => share !== null))
    traces.push({ x, y: running[place], type: "scatter", mode: "lines", yaxis: "y3",
      name: "holders on a CPU", connectgaps: false,
      line: { shape: "hvh", color: colours[2], width: 1, dash: "dot" },
      hovertemplate: "%{x:.3f} s: %{y:.0%} on a CPU<extra></extra>" });
  const who = [...new Set(holders[place])].filter((number) => number);
  who.forEach((number, order) => traces.push({ type: "bar", width: half, yaxis: "y2",
    name: `held by ${names.get(number) ?? `thread ${number}`}`, x,
    y: holders[place].map((holder) => holder === number ? 1 : null),
    marker: { color: colours[order % colours.length], line: { width: 0 } },
    showlegend: order < 12,
    hovertemplate: "%{x:.3f} s<extra>%{fullData.name}</extra>" }));
  plot("timeline", traces, { height: 340, barmode: "stack", bargap: 0,
    legend: { orientation: "h", y: -0.25 }, margin: { l: 60, r: 60, t: 10, b: 60 },
    xaxis: { title: { text: "seconds" }, range: [0, data.duration_ns / 1e9],
      anchor: "free", position: 0 },
    yaxis: { title: { text: "waiters" }, rangemode: "tozero", domain: [0.16, 1] },
    yaxis3: { overlaying: "y", side: "right", range: [0, 1.02], tickformat: ".0%",
      showgrid: false, title: { text: "holders on a CPU" } },
    yaxis2: { domain: [0.02, 0.12], visible: false, range: [0, 1], fixedrange: true } },
  `Waiters and holders of ${nameOf(numbers[place])} over time`);
}
function drawMoments() {
  const { at_ns: at, ...lines } = data.moments;
  element("moments").hidden = !at.length;
  if (!at.length) return;
  const x = at.map((ns) => ns / 1e9);
  plot("moments", Object.entries(lines).map(([name, y], place) => ({ x, y, name,
    type: "scatter", mode: "lines", line: { shape: "hv", color: colours[place] } })),
  { height: 240, legend: { orientation: "h", y: 1.2 },
    xaxis: { title: { text: "seconds" } }, yaxis: { rangemode: "tozero" } },
  "Threads, those waiting and those runnable over time");
}

function drawFigures() {
  drawSite();
  drawFlame();
  drawOverview();
  drawTimeline();
  drawMoments();
}
for (const kind of ["wait", "hold"])
  element(`flame-${kind}`).onclick = () => { weight = kind; drawFlame(); };
element("lock").replaceChildren(...data.timeline.sites.map((number) =>
  new Option(nameOf(number), number)));
element("lock").onchange = drawTimeline;
element("idle-section").hidden = !data.idle.length;
drawSites();
threads.draw(data.threads);
idle.draw(data.idle.map((row) => [row[0], ...row]));
drawFigures();
