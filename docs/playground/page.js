// The page of the playground: a text, the map of one value of all PEs, one PE, and where the run is.
const room = document.getElementById("playground");
const part = (name) => room.querySelector(`[name=${name}]`);
const [start, body, text, status, map, values] = ["start", "body", "text", "status", "map", "values"].map(part);
let worker = null, waiting = false, at = [0, 0];

function ask(request) {
  if (waiting || !worker) return;
  waiting = true;
  status.textContent = "running";
  worker.postMessage({ map: part("what").value || undefined, at, ...request });
}

function begin() {
  worker?.terminate();
  worker = new Worker(new URL("playground/worker.js", document.baseURI), { type: "module" });
  waiting = true;
  worker.onmessage = ({ data }) => {
    if (data.say) status.textContent = data.say;
    else if (data.failed) status.textContent = `This browser could not start it: ${data.failed}`;
    else { waiting = false; data.ready ? ask({ text: text.value }) : show(data); }
  };
}

function show(data) {
  if (!data.maps) { status.textContent = data.error ?? ""; return; }
  status.textContent = data.error ?? `cycle ${data.cycle.toLocaleString()} of ${data.end.toLocaleString()}`;
  const what = part("what");
  if (what.dataset.of !== data.maps.join()) {
    what.replaceChildren(...data.maps.map((name) => new Option(name)));
    what.dataset.of = data.maps.join();
  }
  what.value = data.map.what;
  const { width, height, shades, caption } = data.map;
  const bytes = Uint8Array.from(atob(shades), (letter) => letter.charCodeAt(0));
  const image = new ImageData(width, height);
  bytes.forEach((shade, pixel) => image.data.set([shade, shade, shade, 255], 4 * pixel));
  Object.assign(map, { width, height });
  map.getContext("2d").putImageData(image, 0, 0);
  part("caption").textContent = caption;
  const { place, registers, flags, ranges } = data.pe;
  const rows = [["PE", place], ...Object.entries(registers), ...Object.entries(flags).map(([name, set]) => [name, +set]),
    ...ranges.map((each) => [each.name, each.values.join(" ")])];
  values.replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr");
    for (const cell of row) line.insertCell().textContent = cell;
    return line;
  }));
  const line = Object.values(data.lines)[0];
  part("line").textContent = line ? `next: line ${line}: ${text.value.split("\n")[line - 1].trim()}` : "";
}

start.onclick = () => { start.hidden = true; body.hidden = false; begin(); };
part("run").onclick = () => ask({ text: text.value });
part("stop").onclick = begin;
for (const [name, request] of Object.entries({ first: { go: 0 }, back: { back: 1 }, step: { step: 1 }, last: { go: 2e6 } }))
  part(name).onclick = () => ask(request);
part("what").onchange = () => ask({});
part("example").onchange = async ({ target }) => {
  text.value = await (await fetch(`playground/${target.value}.mc`)).text();
  part("what").value = "";
  ask({ text: text.value });
};
map.onclick = ({ offsetX, offsetY }) => {
  at = [Math.floor((offsetX * map.width) / map.clientWidth), Math.floor((offsetY * map.height) / map.clientHeight)];
  ask({});
};
