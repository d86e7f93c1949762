// The timeline: all parts of the machine over cycles, drawn from what the server gives for a window.

import { figure, Latest, measured } from "./link.js";

const RULER = 22, SPANS = 18, COUNTER = 26, GAP = 3, NARROWEST = 20;

export class Timeline extends EventTarget {
  #link; #canvas; #window = { begin: 0, end: 1000 }; #whole = 1000; #known = 0; #cycle = 0;
  #drawn = null; #since = null; #stale = true; #latest; #hover; #pending = false; #rows = [];

  constructor(link, canvas) {
    super();
    this.#link = link;
    this.#canvas = canvas;
    this.#latest = new Latest((window) => this.#fetch(window));
    this.#hover = new Latest((place) => this.#tellPlace(place));
    new ResizeObserver(() => this.refresh()).observe(canvas.parentElement);
    document.addEventListener("colours", () => this.#paintSoon());
    this.#pointer();
    this.#keys();
  }

  get window() { return { ...this.#window }; }

  /** A run of so many cycles, all of which are shown. */
  open(whole) { this.#whole = Math.max(1, whole); this.#drawn = null; this.look(0, this.#whole); }

  /** How long the run is, and how far it is known. */
  grown(whole, known) {
    const all = this.#window.begin === 0 && this.#window.end === this.#whole;
    this.#known = known;
    if (whole > this.#whole) { this.#whole = whole; if (all) { this.look(0, whole); return; } }
    if (!this.#drawn || this.#drawn.head.known < Math.min(known, this.#window.end)) this.refresh();
  }

  at(cycle) {
    this.#cycle = cycle;
    const { begin, end } = this.#window;
    if (cycle < begin || cycle > end) this.look(cycle - (end - begin) / 2, cycle + (end - begin) / 2);
    else this.#paintSoon();
  }

  /** Show a window: whole cycles, at least 20 of them, within the run. */
  look(begin, end) {
    const length = Math.min(Math.max(NARROWEST, Math.round(end - begin)), Math.max(NARROWEST, this.#whole));
    const first = Math.max(0, Math.min(Math.round(begin), this.#whole - length));
    if (this.#drawn && first === this.#window.begin && first + length === this.#window.end) return;
    this.#window = { begin: first, end: first + length };
    this.refresh();
    this.dispatchEvent(new Event("window"));
  }

  refresh() {
    this.#since ??= performance.now();
    this.#stale = true;
    this.#paintSoon();
    if (this.#width > 0) this.#latest.put({ ...this.#window, width: Math.min(4096, Math.round(this.#width)) });
  }

  get #names() { return this.#canvas.clientWidth < 600 ? 74 : 118; }
  get #width() { return this.#canvas.clientWidth - this.#names; }
  #x(cycle) { return this.#names + ((cycle - this.#window.begin) / (this.#window.end - this.#window.begin)) * this.#width; }
  #cycleAt(x) { return this.#window.begin + ((x - this.#names) / this.#width) * (this.#window.end - this.#window.begin); }

  async #fetch(window) {
    const answer = await this.#link.ask("run.window", window);
    if (!answer) return;
    this.#drawn = read(answer);
    this.#stale = false;
    this.#paintSoon();
  }

  #paintSoon() {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => { this.#pending = false; this.#paint(); });
  }

  #paint() {
    const canvas = this.#canvas, width = canvas.clientWidth;
    if (!width || !this.#drawn) return;
    this.#place();
    const last = this.#rows.at(-1), height = last ? last.top + last.height + 4 : RULER + 20, sharp = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * sharp) || canvas.height !== Math.round(height * sharp)) {
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
      canvas.style.height = `${height}px`;
    }
    const pen = canvas.getContext("2d"), ink = colours();
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    pen.fillStyle = ink.ground;
    pen.fillRect(0, 0, width, height);
    pen.save();
    pen.beginPath();
    pen.rect(this.#names, 0, this.#width, height);
    pen.clip();
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    for (const place of this.#rows) this.#row(pen, ink, place);
    this.#ruler(pen, ink, height);
    pen.restore();
    pen.textBaseline = "middle";
    let before = "";
    for (const { row, top, height: tall } of this.#rows) {
      pen.fillStyle = ink.quiet;
      if (row.track !== before) pen.fillText(row.track, 6, top + tall / 2, this.#names - 10);
      before = row.track;
    }
    const { head } = this.#drawn;
    canvas.dataset.window = `${head.begin}:${head.end}`;
    canvas.dataset.known = String(head.known);
    if (this.#since !== null && !this.#stale && head.begin === this.#window.begin && head.end === this.#window.end) {
      measured("drag-to-picture", this.#since);
      this.#since = null;
    }
  }

  #place() {
    let top = RULER;
    this.#rows = this.#drawn.rows.map((row, number) => {
      const height = row.form === "counter" ? COUNTER : SPANS, place = { row, number, top, height };
      top += height + GAP;
      return place;
    });
  }

  #row(pen, ink, { row, top, height }) {
    const { head } = this.#drawn, from = this.#x(head.begin), step = (this.#x(head.end) - from) / head.width;
    if (row.form === "shares") {
      for (let at = 0; at < head.width; at++) {
        const busy = (row.busy[at] / 255) * height, wait = (row.waiting[at] / 255) * height;
        if (busy) { pen.fillStyle = ink.busy; pen.fillRect(from + at * step, top + height - busy, step + 0.3, busy); }
        if (wait) { pen.fillStyle = ink.wait; pen.fillRect(from + at * step, top + height - busy - wait, step + 0.3, wait); }
      }
    } else if (row.form === "counter") {
      const scale = (height - 2) / (row.most || 1);
      for (let at = 0; at < head.width; at++) {
        const low = row.least[at] * scale, high = row.greatest[at] * scale;
        pen.fillStyle = ink.access;
        pen.globalAlpha = 0.35;
        pen.fillRect(from + at * step, top + height - high, step + 0.3, high);
        pen.globalAlpha = 1;
        pen.fillRect(from + at * step, top + height - high, step + 0.3, Math.max(1, high - low));
      }
    } else this.#spans(pen, ink, row, top, height);
  }

  #spans(pen, ink, row, top, height) {
    const { head } = this.#drawn, { begin } = head;
    for (let at = 0; at < row.count; at++) {
      const x = this.#x(begin + row.starts[at]), end = this.#x(begin + row.ends[at]);
      if (end < this.#names || x > this.#names + this.#width) continue;
      const kind = head.kinds[row.names[at]], name = head.names[row.names[at]], wide = Math.max(end - x, 0.8);
      pen.fillStyle = kind === "stage" || kind === "routine" ? hued(name, ink.dark) : ink[KINDS[kind] ?? "busy"];
      pen.globalAlpha = kind === "execute" ? 0.8 : 1;
      pen.fillRect(x, top, wide > 3 ? wide - 0.6 : wide, height);
      pen.globalAlpha = 1;
      if (wide > 28) {
        pen.fillStyle = kind === "stage" || kind === "routine" ? ink.ink : ink.ground;
        const left = Math.max(x, this.#names) + 3, room = end - left - 3;
        if (room > 20) { pen.save(); pen.beginPath(); pen.rect(left, top, room, height); pen.clip(); pen.fillText(name, left, top + height / 2); pen.restore(); }
      }
    }
  }

  #ruler(pen, ink, height) {
    const { begin, end } = this.#window, length = end - begin;
    let step = 10 ** Math.floor(Math.log10(Math.max(1, (length / this.#width) * 110)));
    while ((step / length) * this.#width < 84) step *= step.toString()[0] === "2" ? 2.5 : 2;
    step = Math.max(1, Math.round(step));
    pen.fillStyle = ink.quiet;
    for (let cycle = Math.ceil(begin / step) * step; cycle <= end; cycle += step) {
      const x = this.#x(cycle);
      pen.fillRect(x, RULER - 5, 1, 5);
      pen.fillText(figure(cycle), x + 3, 10);
    }
    if (this.#known < end && this.#known >= begin) {
      pen.fillStyle = ink.line;
      pen.globalAlpha = 0.4;
      pen.fillRect(this.#x(this.#known), RULER, this.#width, height);
      pen.globalAlpha = 1;
    }
    const here = this.#x(this.#cycle);
    pen.fillStyle = ink.here;
    pen.fillRect(here - 0.75, 0, 1.5, height);
    pen.beginPath();
    pen.moveTo(here - 6, 0); pen.lineTo(here + 6, 0); pen.lineTo(here, 8);
    pen.fill();
  }

  #zoom(factor, about) {
    const { begin, end } = this.#window, length = (end - begin) * factor;
    const share = (about - begin) / (end - begin);
    this.look(about - share * length, about + (1 - share) * length);
  }

  #pan(cycles) { const { begin, end } = this.#window; this.look(begin + cycles, end + cycles); }
  #go(cycle) { this.dispatchEvent(new CustomEvent("goto", { detail: Math.max(0, Math.min(this.#whole, Math.round(cycle))) })); }

  #pointer() {
    const canvas = this.#canvas;
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held = { x: event.offsetX, window: this.window, moved: false, scrub: event.offsetY < RULER };
      if (held.scrub) this.#go(this.#cycleAt(event.offsetX));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) { this.#point(event); return; }
      if (held.scrub) { this.#go(this.#cycleAt(event.offsetX)); return; }
      if (Math.abs(event.offsetX - held.x) > 3) held.moved = true;
      if (!held.moved) return;
      const { begin, end } = held.window, moved = ((held.x - event.offsetX) / this.#width) * (end - begin);
      this.look(begin + moved, end + moved);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved && !held.scrub && event.offsetX > this.#names) this.#go(this.#cycleAt(event.offsetX));
      held = null;
    });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("wheel", (event) => {
      if (!event.deltaX && event.shiftKey === false && !event.ctrlKey && event.offsetX <= this.#names) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.#pan((event.deltaX / this.#width) * (this.#window.end - this.#window.begin));
      else this.#zoom(Math.exp(event.deltaY / 400), this.#cycleAt(Math.max(this.#names, event.offsetX)));
    }, { passive: false });
  }

  #keys() {
    this.#canvas.addEventListener("keydown", (event) => {
      const { begin, end } = this.#window, length = end - begin, middle = (begin + end) / 2;
      const about = this.#cycle >= begin && this.#cycle <= end ? this.#cycle : middle;
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by && event.shiftKey) this.#go(this.#cycle + by * Math.max(1, Math.round(length / 100)));
      else if (by) this.#pan(by * length * 0.1);
      else if (event.key === "+" || event.key === "=") this.#zoom(0.7, about);
      else if (event.key === "-") this.#zoom(1 / 0.7, about);
      else if (event.key === "Home") this.look(0, this.#whole);
      else return;
      event.preventDefault();
    });
  }

  #point(event) {
    const place = this.#rows.find(({ top, height }) => event.offsetY >= top && event.offsetY < top + height + GAP);
    if (place && event.offsetX > this.#names) this.#hover.put({ row: place.number, cycle: Math.max(0, Math.floor(this.#cycleAt(event.offsetX))) });
  }

  async #tellPlace(place) {
    const answer = await this.#link.ask("run.place", place);
    if (!answer) return;
    const { track, cycle, start, end, name, args } = answer.head;
    const span = start === undefined ? "" : `, cycles ${figure(start)} to ${figure(end)}`;
    const more = args.map(([key, value]) => `${key} ${value}`).join(", ");
    this.dispatchEvent(new CustomEvent("place", { detail: `cycle ${figure(cycle)} · ${track}: ${name || "nothing"}${span}${more ? ` (${more})` : ""}` }));
  }
}

const KINDS = { execute: "busy", wait: "wait", stall: "wait", blocked: "here", access: "access", path: "path", carry: "path" };

/** Return the columns of a window's answer. */
function read({ head, body }) {
  let at = 0;
  const take = (Kind, count) => {
    const size = count * Kind.BYTES_PER_ELEMENT, piece = new Kind(body.slice(at, at + size));
    at += size;
    return piece;
  };
  const rows = head.rows.map((row) => {
    if (row.form === "shares") return { ...row, busy: take(Uint8Array, head.width), waiting: take(Uint8Array, head.width) };
    if (row.form === "counter") return { ...row, least: take(Float32Array, head.width), greatest: take(Float32Array, head.width) };
    return { ...row, starts: take(Int32Array, row.count), ends: take(Int32Array, row.count), names: take(Int32Array, row.count) };
  });
  return { head, rows };
}

function hued(name, dark) {
  let hash = 7;
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  return `hsl(${hash % 360} 55% ${dark ? 32 : 82}%)`;
}

function colours() {
  // Custom properties are texts: an element that has them says what colours they are.
  const style = getComputedStyle(probe()), found = {};
  for (const name of ["ground", "ink", "quiet", "line", "busy", "wait", "access", "path", "here"]) {
    probe().style.color = `var(--${name})`;
    found[name] = style.color;
  }
  const [red] = found.ground.match(/\d+/g).map(Number);
  return { ...found, dark: red < 128 };
}

let hidden = null;
function probe() {
  if (!hidden) { hidden = document.createElement("span"); hidden.hidden = true; document.body.append(hidden); }
  return hidden;
}
