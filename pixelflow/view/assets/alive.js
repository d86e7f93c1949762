// The machine alive: a picture that the simulated machine draws anew whenever it is turned.

import { figure, Latest, made, measured, Refused } from "./link.js";

const $ = (name) => document.getElementById(name);
const FRAMES = 12; // of which the rate here is taken

export class Alive {
  #link; #lookedInto; #canvas = $("picture"); #form = $("choices"); #view = { azimuth: 0, elevation: 0, zoom: 1 };
  #asked = null; #times = []; #offers = null; #timer = 0; #latest;

  constructor(link, lookedInto) {
    this.#link = link;
    this.#lookedInto = lookedInto;
    this.#latest = new Latest((value) => this.#frame(value));
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    this.#form.addEventListener("change", () => this.#changed());
    this.#pointer();
    this.#keys();
    this.#files();
    $("into-tessellation").addEventListener("click", () => this.#into(0));
    $("into-region").addEventListener("click", () => this.#into(Number($("region").value)));
  }

  async connected() {
    const { head } = await this.#link.ask("draw.offers");
    const first = this.#offers === null;
    this.#offers = head;
    const fill = (name, values) => this.#form.elements[name].replaceChildren(...values.map((each) => made("option", {}, each)));
    const before = first ? { model: head.model, size: "320x240" } : Object.fromEntries(new FormData(this.#form));
    fill("model", head.models);
    fill("schedule", head.schedules);
    fill("library", head.libraries);
    fill("machine", head.machines);
    fill("size", head.sizes);
    const machine = before.machine ?? "pixelflow";
    for (const [name, value] of Object.entries({ ...before, machine })) {
      const field = this.#form.elements[name];
      if (field && field.type !== "checkbox") field.value = value;
    }
    if (!this.#form.elements.model.value) this.#form.elements.model.value = head.model;
    if (first) {
      const kept = JSON.parse(sessionStorage.getItem("pixelflow.view") ?? "null");
      this.#view = { ...head.view, ...kept };
    }
    this.shown();
  }

  shown() { if (this.#offers && !$("alive").hidden) this.#draw(); }

  #choices() {
    const chosen = this.#form.elements;
    return {
      model: chosen.model.value, samples: Number(chosen.samples.value), schedule: chosen.schedule.value,
      library: chosen.library.value, machine: chosen.machine.value, size: chosen.size.value,
      flat: chosen.flat.checked ? 1 : 0, ...this.#view,
    };
  }

  #changed() {
    this.#times = [];
    this.#draw();
  }

  #draw() {
    sessionStorage.setItem("pixelflow.view", JSON.stringify(this.#view));
    this.#asked ??= performance.now();
    this.#latest.put(this.#choices());
  }

  #turn(right, up, zoom = 1) {
    const view = this.#view;
    view.azimuth = (((view.azimuth + right) % 360) + 360) % 360;
    view.elevation = Math.max(-89, Math.min(89, view.elevation + up));
    view.zoom = Math.max(0.25, Math.min(8, view.zoom * zoom));
    this.#draw();
  }

  async #frame(choices) {
    const since = this.#asked ?? performance.now();
    this.#asked = null;
    const begin = performance.now();
    let answer;
    try {
      answer = await this.#link.ask("draw.frame", choices);
    } catch (error) {
      if (error instanceof Refused) this.#complain(error.message);
      throw error;
    }
    if (!answer) return;
    this.#complain("");
    this.#paint(answer);
    this.#times.push(performance.now() - begin);
    this.#times = this.#times.slice(-FRAMES);
    this.#figures(answer.head);
    measured("turn-to-picture", since);
    if (this.#form.elements.turning.checked && !$("alive").hidden) requestAnimationFrame(() => this.#turn(4, 0));
  }

  #paint({ head, body }) {
    const { width, height } = head, bytes = new Uint8Array(body), image = new ImageData(width, height);
    for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
      image.data[to] = bytes[from]; image.data[to + 1] = bytes[from + 1];
      image.data[to + 2] = bytes[from + 2]; image.data[to + 3] = 255;
    }
    if (this.#canvas.width !== width || this.#canvas.height !== height) Object.assign(this.#canvas, { width, height });
    this.#canvas.getContext("2d").putImageData(image, 0, 0);
    this.#canvas.dataset.frames = String(Number(this.#canvas.dataset.frames ?? 0) + 1);
  }

  #figures(head) {
    const mean = this.#times.reduce((sum, each) => sum + each, 0) / this.#times.length;
    const host = Object.entries(head.host_seconds).map(([name, seconds]) => `${name} ${figure(seconds * 1e3)} ms`).join(", ");
    const rows = [
      ["machine time of a picture", `${figure(head.machine_ms, 3)} ms`, "large"],
      ["pictures a second, the machine", figure(1e3 / head.machine_ms, 1), "large"],
      [`pictures a second here (last ${this.#times.length})`, figure(1e3 / mean, 2), "large"],
      ...head.steps.map((step) => [`cycles: ${step.who}`, `${figure(step.cycles)} at ${figure(step.clock_mhz)} MHz`, ""]),
      ["samples, triangles", `${figure(head.samples)}, ${figure(head.triangles)}`, ""],
      ["library, engine", `${head.library}, ${head.engine}`, ""],
      ["here", host, ""],
    ];
    $("figures").replaceChildren(...rows.flatMap(([name, value, kind]) => [made("dt", {}, name), made("dd", { class: kind }, value)]));
    $("stages").replaceChildren(...head.steps.map(stageTable));
    const facts = [...head.notes, "tessellation and drawing follow each other; camera and light are the application's, for no cycles"];
    $("facts").replaceChildren(...facts.map((each) => made("li", {}, each)));
  }

  #complain(text) {
    const place = $("frame-error");
    place.hidden = !text;
    place.textContent = text;
  }

  #pointer() {
    const canvas = this.#canvas, points = new Map();
    let spread = 0;
    const apart = () => { const [a, b] = [...points.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      points.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (points.size === 2) spread = apart();
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = points.get(event.pointerId);
      if (!before) return;
      points.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (points.size === 1) this.#turn((before.x - event.clientX) * 0.5, (event.clientY - before.y) * 0.5);
      else if (points.size === 2) { const now = apart(); this.#turn(0, 0, now / (spread || now)); spread = now; }
    });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => points.delete(event.pointerId));
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.#turn(0, 0, Math.exp(-event.deltaY / 500)); }, { passive: false });
  }

  #keys() {
    const turns = {
      ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, 6], ArrowDown: [0, -6],
      "+": [0, 0, 1.15], "=": [0, 0, 1.15], "-": [0, 0, 1 / 1.15],
    };
    this.#canvas.addEventListener("keydown", (event) => {
      if (event.key === " ") { const box = this.#form.elements.turning; box.checked = !box.checked; this.#changed(); }
      else if (turns[event.key]) this.#turn(...turns[event.key]);
      else return;
      event.preventDefault();
    });
  }

  #files() {
    const drop = $("drop");
    for (const name of ["dragover", "dragleave", "drop"]) {
      drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.toggle("over", name === "dragover"); });
    }
    drop.addEventListener("drop", (event) => this.#take(event.dataTransfer.files[0]));
    $("file").addEventListener("change", (event) => this.#take(event.target.files[0]));
    for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
  }

  async #take(file) {
    if (!file) return;
    if (file.size > 3_000_000) { this.#complain(`${file.name} has ${figure(file.size)} bytes; up to 3,000,000 can be dropped here`); return; }
    try {
      const { head } = await this.#link.ask("draw.patches", { name: file.name.slice(0, 200), text: await file.text() });
      const models = this.#form.elements.model;
      if (![...models.options].some((each) => each.value === head.model)) models.append(made("option", { value: head.model }, head.model));
      models.value = head.model;
      this.#changed();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#complain(error.message);
    }
  }

  async #into(number) {
    try {
      const answer = await this.#link.ask("draw.record", { ...this.#choices(), pass: number });
      if (answer) this.#lookedInto();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#complain(error.message);
    }
  }
}

function stageTable(step) {
  const total = step.stages.reduce((sum, [, cycles]) => sum + cycles, 0) || 1;
  const name = "http://www.w3.org/2000/svg";
  const rows = step.stages.map(([stage, cycles]) => {
    const picture = document.createElementNS(name, "svg"), bar = document.createElementNS(name, "rect");
    bar.setAttribute("width", `${(100 * cycles) / total}%`);
    bar.setAttribute("height", "100%");
    picture.append(bar);
    return made("tr", {}, made("th", { scope: "row" }, stage), made("td", { class: "number" }, figure(cycles)), made("td", { class: "bar" }, picture));
  });
  return made("table", {}, made("caption", {}, `${step.who}: cycles by stage${step.whose ? `, ${step.whose}` : ""}`), made("tbody", {}, ...rows));
}
