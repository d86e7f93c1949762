// The machine alive: a picture that the simulated machine draws anew whenever it is turned.

import { figure, Latest, made, measured, Refused } from "./link.js";

const $ = (name) => document.getElementById(name);
const FRAMES = 12; // of which the rate here is taken
const STILL = 250; // milliseconds without a turn, after which the picture stands still
const SLOWEST = 15, FASTEST = 30; // pictures a second while it is turned, where nobody has chosen the samples

const CHOICES = "pixelflow.choices"; // what the form held last, of the page of one address

export class Alive {
  #link; #lookedInto; #canvas = $("picture"); #form = $("choices"); #view = { azimuth: 0, elevation: 0, zoom: 1 };
  #asked = null; #times = []; #offers = null; #timer = 0; #latest;
  #moving = false; #resting = false; // whether it is being turned, or is drawn antialiased as it stands still
  #drawn = 0; // samples a side of the last picture
  #fluid = 4; // samples a side while it is turned, as many as the pace allows
  #head = null; #soon = 0; // what the figures will be of, and the timer for it
  #begun = 0; #shown = 0; #failed = 0; // numbers of the last picture that was asked for, that was shown, and at an error
  #painted = 0; // when the last picture came

  constructor(link, lookedInto) {
    this.#link = link;
    this.#lookedInto = lookedInto;
    this.#latest = new Latest((value) => this.#frame(value), () => this.#apart());
    link.addEventListener("doing", ({ detail }) => this.#doing(detail.text));
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    this.#form.addEventListener("change", () => this.#changed());
    this.#pointer();
    this.#keys();
    this.#files();
    $("into-tessellation").addEventListener("click", () => this.#into(0));
    $("into").addEventListener("submit", (event) => { event.preventDefault(); this.#into(Number($("region").value)); });
  }

  async connected() {
    const { head } = await this.#link.ask("draw.offers");
    const first = this.#offers === null;
    this.#offers = head;
    const before = first ? kept() : this.#all();
    const fill = (name, values) => this.#form.elements[name].replaceChildren(...values.map((each) => made("option", {}, each)));
    fill("model", head.models);
    fill("schedule", head.schedules);
    fill("library", head.libraries);
    fill("machine", head.machines);
    fill("size", head.sizes);
    this.#choose({ model: head.model, size: "320x240", machine: "pixelflow" });
    this.#choose(before);
    if (first) this.#view = { ...head.view, ...JSON.parse(sessionStorage.getItem("pixelflow.view") ?? "null") };
    this.#moving = first || this.#form.elements.turning.checked; // a coarse picture comes first
    this.shown();
  }

  /** Everything in the form, by name: texts, and whether boxes are ticked. */
  #all() {
    return Object.fromEntries([...this.#form.elements].map((field) => [field.name, field.type === "checkbox" ? field.checked : field.value]));
  }

  /** Put into the form what may be in it; of the rest it has what it had. */
  #choose(values) {
    for (const field of this.#form.elements) {
      const value = values[field.name], before = field.value;
      if (typeof value === "boolean") field.checked = value;
      else if (typeof value === "string") {
        field.value = value;
        if (field.selectedIndex === -1 || !field.checkValidity()) field.value = before;
      }
    }
  }

  shown() { if (this.#offers && !$("view-alive").hidden) this.#draw(); }

  /** What is chosen: for a picture that stands still, and for what is looked into. */
  #choices() {
    const chosen = this.#form.elements;
    return {
      model: chosen.model.value, samples: Number(chosen.samples.value), schedule: chosen.schedule.value,
      library: chosen.library.value, machine: chosen.machine.value, size: chosen.size.value,
      flat: chosen.flat.checked ? 1 : 0, ...this.#view,
    };
  }

  #changed() {
    sessionStorage.setItem(CHOICES, JSON.stringify({ page: location.pathname, chosen: this.#all() }));
    this.#times = [];
    clearTimeout(this.#soon);
    this.#soon = 0;
    this.#moving = this.#form.elements.turning.checked;
    this.#draw();
  }

  #draw() {
    clearTimeout(this.#timer);
    this.#resting = false;
    sessionStorage.setItem("pixelflow.view", JSON.stringify(this.#view));
    this.#asked ??= performance.now();
    const choices = this.#choices();
    if (this.#moving) choices.samples = Math.min(choices.samples, Number(this.#form.elements.moving.value) || this.#fluid);
    if (this.#moving && this.#canvas.dataset.frames) choices.turning = 1;
    else if (this.#moving) choices.size = this.#offers.sizes[0]; // the first one, quickly
    this.#latest.put(choices);
  }

  /** How many pictures may be under way, and the milliseconds between their beginnings, so that they come evenly. */
  #apart() {
    const several = this.#moving && this.#form.elements.machine.value === "pixelflow" && this.#times.length > 0;
    return several ? [this.#offers.at_once, 0.8 * this.#mean()] : [1, 0];
  }

  /** Say what the machine is at, until a picture comes; nothing where pictures come quickly. */
  #doing(text) {
    const slow = this.#asked !== null && performance.now() - this.#painted > STILL;
    if (slow || !this.#canvas.dataset.frames) $("drawn").textContent = `${text} …`;
  }

  /** Wait for a movement to end, after the last picture that it has asked for. */
  #settle() {
    clearTimeout(this.#timer);
    if (!this.#form.elements.turning.checked && !this.#resting) this.#timer = setTimeout(() => this.#rest(), STILL);
  }

  /** After the last picture of a movement: draw once more with the samples that are chosen, and then antialiased. */
  #rest() {
    const choices = this.#choices(), { width, height } = this.#canvas;
    this.#moving = false;
    if (this.#drawn !== choices.samples || `${width}x${height}` !== choices.size) { this.#draw(); return; }
    if (!this.#form.elements.antialias.checked) return;
    this.#resting = true;
    this.#latest.put({ ...choices, antialias: 4 });
  }

  #turn(right, up, zoom = 1) {
    const view = this.#view;
    view.azimuth = (((view.azimuth + right) % 360) + 360) % 360;
    view.elevation = Math.max(-89, Math.min(89, view.elevation + up));
    view.zoom = Math.max(0.25, Math.min(8, view.zoom * zoom));
    this.#moving = true;
    this.#draw();
  }

  /** Turn a little by itself, if that is seen, or else as soon as it is seen again. */
  #turnOn() {
    if (document.hidden) requestAnimationFrame(() => this.#turn(4, 0));
    else if (!$("view-alive").hidden) this.#turn(4, 0);
  }

  async #frame(choices) {
    const begin = performance.now(), since = this.#asked ?? begin, under = this.#latest.under, number = ++this.#begun;
    this.#asked = null;
    if (this.#form.elements.turning.checked && this.#moving && this.#link.isOpen) this.#turnOn(); // what follows this one
    if (!this.#canvas.dataset.frames) this.#doing("assembling and compiling microcode");
    let answer;
    try {
      answer = await this.#link.ask("draw.frame", choices);
    } catch (error) {
      if (error instanceof Refused && choices.antialias) $("drawn").title = error.message; // this machine has one sample a pixel
      else if (error instanceof Refused) {
        this.#complain(error.message);
        this.#latest.drop();
        this.#failed = this.#begun;
        if (this.#link.isOpen) this.#form.elements.turning.checked = this.#moving = false; // or else it turns when it is back
      }
      throw error;
    }
    if (this.#latest.last) this.#settle();
    if (!answer || number < this.#shown) return;
    this.#shown = number;
    if (number > this.#failed) this.#complain("");
    if (!choices.antialias) {
      if (this.#drawn !== answer.head.side) this.#times = [];
      this.#drawn = answer.head.side;
      this.#times.push((performance.now() - begin) / under);
      this.#times = this.#times.slice(-FRAMES);
      this.#pace();
    }
    // Shown while the next one is drawn.
    requestAnimationFrame(() => { this.#paint(answer); this.#account(answer.head); measured("turn-to-picture", since); });
  }

  /** Show the figures of a picture; while it is turned, not of each: a browser takes longer for them than for the picture. */
  #account(head) {
    this.#head = head;
    if (!this.#moving) { clearTimeout(this.#soon); this.#soon = 0; this.#figures(head); return; }
    this.#soon ||= setTimeout(() => { this.#soon = 0; this.#figures(this.#head); }, STILL);
  }

  /** Take fewer samples while it is turned where pictures come too slowly, more where there is time for them. */
  #pace() {
    if (!this.#moving || this.#times.length < FRAMES / 2) return;
    const rate = 1e3 / this.#mean();
    if (rate < SLOWEST && this.#drawn === this.#fluid) this.#fluid = Math.max(this.#offers.samples[0], this.#fluid - 1);
    else if (rate > FASTEST && this.#drawn === this.#fluid) this.#fluid += 1;
  }

  #mean() { return this.#times.reduce((sum, each) => sum + each, 0) / this.#times.length; }

  #paint({ head, body }) {
    this.#painted = performance.now();
    const { width, height } = head, bytes = new Uint8Array(body), image = new ImageData(width, height);
    for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
      image.data[to] = bytes[from]; image.data[to + 1] = bytes[from + 1];
      image.data[to + 2] = bytes[from + 2]; image.data[to + 3] = 255;
    }
    if (this.#canvas.width !== width || this.#canvas.height !== height) Object.assign(this.#canvas, { width, height });
    this.#canvas.getContext("2d").putImageData(image, 0, 0);
    const fewer = head.side < this.#choices().samples;
    const smooth = head.samples_a_pixel > 1 ? `, ${head.samples_a_pixel} a pixel` : "";
    $("drawn").textContent = `${head.side} x ${head.side} samples a patch${fewer ? " while it turns" : smooth}`;
    $("drawn").title = "";
    this.#canvas.dataset.pixel = String(head.samples_a_pixel);
    this.#canvas.dataset.side = String(head.side);
    this.#canvas.dataset.frames = String(Number(this.#canvas.dataset.frames ?? 0) + 1);
  }

  #figures(head) {
    const mean = this.#mean();
    const host = Object.entries(head.host_seconds).map(([name, seconds]) => `${name} ${figure(seconds * 1e3)} ms`).join(", ");
    const rows = [
      [`machine time of a picture${head.samples_a_pixel > 1 ? `, ${head.samples_a_pixel} samples a pixel` : ""}`, `${figure(head.machine_ms, 3)} ms`, "large"],
      ["pictures a second of the machine", figure(1e3 / head.machine_ms, 1), "large"],
      [`pictures a second here, ${head.side} x ${head.side} samples (last ${this.#times.length})`, figure(1e3 / mean, 2), "large"],
      ...head.steps.map((step) => [`cycles: ${step.who}`, `${figure(step.cycles)} at ${figure(step.clock_mhz)} MHz`, ""]),
      ["LEE configured, once before all pictures", `${figure(head.lee_configuration_cycles)} cycles, in none of the above`, ""],
      ["samples, triangles", `${figure(head.samples)}, ${figure(head.triangles)}`, ""],
      ["library, engine", `${head.library}, ${head.engine}`, ""],
      ["time of this host", host, ""],
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

/** What was chosen before this page was loaded again; nothing for another one, whose server may have other patches. */
function kept() {
  const { page, chosen } = JSON.parse(sessionStorage.getItem(CHOICES) ?? "{}");
  return page === location.pathname ? chosen : {};
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
