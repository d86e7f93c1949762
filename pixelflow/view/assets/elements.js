// The PEs: a map of one value of all of them, and everything of one of them.

import { Latest, made, Refused } from "./link.js";

const $ = (name) => document.getElementById(name);

export class Elements {
  #link; #canvas = $("map"); #chosen = { x: 0, y: 0 }; #image = null; #byte = 0; #element = null; #map; #one;

  constructor(link) {
    this.#link = link;
    this.#map = new Latest((what) => this.#fetchMap(what));
    this.#one = new Latest((place) => this.#fetchOne(place));
    $("what").addEventListener("change", () => this.refresh());
    this.#pointer();
  }

  open(maps, first) {
    $("maps").replaceChildren(...maps.map((each) => made("option", { value: each })));
    if (!$("what").value) $("what").value = first;
  }

  refresh() {
    this.#map.put($("what").value.trim() || "enable");
    this.#one.put(this.#chosen);
  }

  #choose(x, y) {
    const { width, height } = this.#image ?? { width: 128, height: 64 };
    this.#chosen = { x: Math.max(0, Math.min(width - 1, x)), y: Math.max(0, Math.min(height - 1, y)) };
    this.#paint();
    this.#one.put(this.#chosen);
  }

  async #fetchMap(what) {
    const caption = $("map-caption");
    try {
      const answer = await this.#link.ask("run.map", { what });
      if (!answer) return;
      const { width, height } = answer.head, shades = new Uint8Array(answer.body), image = new ImageData(width, height);
      for (let at = 0; at < shades.length; at++) image.data.set([shades[at], shades[at], shades[at], 255], 4 * at);
      this.#image = image;
      caption.textContent = answer.head.caption;
      caption.classList.remove("error");
      this.#canvas.dataset.what = answer.head.what;
      this.#paint();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      caption.textContent = error.message;
      caption.classList.add("error");
    }
  }

  #paint() {
    if (!this.#image) return;
    const { width, height } = this.#image, scale = 4, canvas = this.#canvas;
    if (canvas.width !== width * scale) Object.assign(canvas, { width: width * scale, height: height * scale });
    const pen = canvas.getContext("2d"), small = new OffscreenCanvas(width, height);
    small.getContext("2d").putImageData(this.#image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, 0, 0, width * scale, height * scale);
    pen.strokeStyle = "#ff4136";
    pen.lineWidth = 2;
    pen.strokeRect(this.#chosen.x * scale - 1, this.#chosen.y * scale - 1, scale + 2, scale + 2);
  }

  async #fetchOne(place) {
    try {
      const answer = await this.#link.ask("run.element", place);
      if (!answer) return;
      this.#element = { ...answer.head, memory: new Uint8Array(answer.body) };
      this.#show();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      $("element").replaceChildren(made("p", { class: "error" }, error.message));
    }
  }

  #show() {
    const found = this.#element, hex = (value) => value.toString(16).padStart(2, "0");
    const flags = Object.entries(found.flags).map(([name, set]) => `${name} ${set ? 1 : 0}`).join("  ");
    const registers = Object.entries(found.registers).map(([name, value]) => `${name} ${hex(value)}`).join("  ");
    const ranges = found.ranges.map((range) => made("tr", {}, made("th", { scope: "row" }, range.name),
      made("td", {}, `${range.start}`), made("td", { class: "number" }, range.values.join(" "))));
    $("element").replaceChildren(
      made("h3", {}, `PE ${found.lane} (${found.place}) at x ${found.x}, y ${found.y}`),
      made("pre", {}, `${registers}   ${flags}`),
      made("p", { class: "quiet", id: "decoded" }, this.#decoded()),
      this.#memory(hex),
      made("details", {}, made("summary", {}, `named ranges (${ranges.length})`), made("table", {}, made("tbody", {}, ...ranges))),
    );
  }

  /** What lies at the chosen byte, as a byte, a word and a float of IEEE 754, low byte first. */
  #decoded() {
    const { memory, areas } = this.#element, view = new DataView(memory.buffer), at = this.#byte;
    const area = areas.find(([, start, size]) => at >= start && at < start + size)?.[0] ?? "beyond";
    if (at + 4 > memory.length) return `byte ${at} (${area}): ${memory[at]}`;
    return `byte ${at} (${area}): ${memory[at]}; word ${view.getUint32(at, true)}; float ${view.getFloat32(at, true)}`;
  }

  #memory(hex) {
    const { memory, areas } = this.#element, cells = [];
    for (let at = 0; at < memory.length; at++) {
      if (at % 16 === 0) cells.push(made("b", {}, String(at)));
      const area = (areas.find(([, start, size]) => at >= start && at < start + size)?.[0] ?? "").split(" ")[0];
      const cell = made("button", { class: `${area}${at === this.#byte ? " chosen" : ""}`, "data-at": String(at), tabindex: at === this.#byte ? "0" : "-1", "aria-label": `byte ${at}: ${memory[at]}` }, hex(memory[at]));
      cells.push(cell);
    }
    const place = made("div", { class: "memory", role: "group", "aria-label": "memory of the PE, arrow keys choose a byte, Enter maps it" }, ...cells);
    place.addEventListener("click", (event) => { if (event.target.dataset.at) this.#pick(Number(event.target.dataset.at)); });
    place.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -16, ArrowDown: 16 }[event.key];
      if (event.key === "Enter") { $("what").value = `byte ${this.#byte}`; this.refresh(); }
      else if (by) { this.#pick(Math.max(0, Math.min(memory.length - 1, this.#byte + by))); }
      else return;
      event.preventDefault();
    });
    return place;
  }

  #pick(at) {
    this.#byte = at;
    const scrolled = document.querySelector(".memory")?.scrollTop ?? 0;
    this.#show();
    const place = document.querySelector(".memory");
    place.scrollTop = scrolled;
    place.querySelector(".chosen")?.focus({ preventScroll: false });
  }

  #pointer() {
    const canvas = this.#canvas;
    const at = (event) => {
      const { width, height } = this.#image ?? { width: 128, height: 64 };
      this.#choose(Math.floor((event.offsetX / canvas.clientWidth) * width), Math.floor((event.offsetY / canvas.clientHeight) * height));
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); at(event); });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) at(event); });
    canvas.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!by) return;
      event.preventDefault();
      this.#choose(this.#chosen.x + by[0], this.#chosen.y + by[1]);
    });
  }
}
