// The timeline: all parts of the machine over cycles, drawn from what the server gives for a window.

import { figure, Latest, measuredPicture } from "./link.js";

const RULER = 22, SPANS = 18, COUNTER = 26, GAP = 3, NARROWEST = 20, STRIP = 10, FONT = "11px system-ui, sans-serif";

export class Timeline extends EventTarget {
  #link; #canvas; #window = { begin: 0, end: 1000 }; #whole = 1000; #known = 0; #cycle = 0;
  #drawn = null; #latest; #hover; #pending = false; #rows = []; #wide = 0; #names = 118; #ink = null; #columns = null;
  #since = null; #shows = null; // when the first event came that no picture shows: none asked for, the one drawn next

  constructor(link, canvas) {
    super();
    this.#link = link;
    this.#canvas = canvas;
    this.#latest = new Latest((window) => this.#fetch(window));
    this.#hover = new Latest((place) => this.#tellPlace(place));
    new ResizeObserver(() => { this.#wide = canvas.clientWidth; this.refresh(); }).observe(canvas.parentElement);
    document.addEventListener("colours", () => this.#inkAnew());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#inkAnew());
    this.#pointer();
    this.#keys();
  }

  get window() { return { ...this.#window }; }

  /** A run of so many cycles, all of which are shown. */
  open(whole) { this.#whole = Math.max(1, whole); this.#drawn = null; this.look(0, this.#whole); }

  /** Where the run ends, null where that is not known yet, and how far it is known. */
  grown(end, known) {
    const whole = end ?? known;
    const all = this.#window.begin === 0 && this.#window.end === this.#whole;
    this.#known = known;
    if (whole > this.#whole || (end !== null && whole < this.#whole)) {
      this.#whole = Math.max(1, whole);
      if (all) { this.look(0, this.#whole); return; }
    }
    if (!this.#drawn || this.#drawn.head.known < Math.min(known, this.#window.end)) this.refresh();
  }

  at(cycle) {
    this.#cycle = cycle;
    const { begin, end } = this.#window;
    if (cycle < begin || cycle > end) this.look(cycle - (end - begin) / 2, cycle + (end - begin) / 2);
    else this.#paintSoon();
  }

  /** Show a window: whole cycles, at least 20 of them where there are as many, within the run; ``since`` is when somebody wanted it. */
  look(begin, end, since = null) {
    const length = Math.min(Math.max(NARROWEST, Math.round(end - begin)), this.#whole);
    const first = Math.max(0, Math.min(Math.round(begin), this.#whole - length));
    if (this.#drawn && first === this.#window.begin && first + length === this.#window.end) return;
    this.#window = { begin: first, end: first + length };
    this.#since ??= since;
    this.refresh();
    this.dispatchEvent(new Event("window"));
  }

  refresh() {
    this.#paintSoon();
    if (this.#width > 0) this.#latest.put({ ...this.#window, width: Math.min(4096, Math.round(this.#width)) });
  }

  get #width() { return this.#wide - this.#names; }
  #x(cycle) { return this.#names + ((cycle - this.#window.begin) / (this.#window.end - this.#window.begin)) * this.#width; }
  #cycleAt(x) { return this.#window.begin + ((x - this.#names) / this.#width) * (this.#window.end - this.#window.begin); }

  async #fetch(window) {
    const since = this.#since;
    this.#since = null;
    const answer = await this.#link.ask("run.window", window);
    if (!answer) { this.#since ??= since; return; }
    this.#drawn = read(answer);
    this.#columns = null;
    this.#shows ??= since;
    this.#nameAll();
    this.#paintSoon();
  }

  #paintSoon() {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => { this.#pending = false; this.#paint(); });
  }

  #paint() {
    const canvas = this.#canvas, width = this.#wide;
    if (!width || !this.#drawn) return;
    this.#place();
    const last = this.#rows.at(-1), height = last ? last.top + last.height + 4 : RULER + STRIP + 20, sharp = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * sharp) || canvas.height !== Math.round(height * sharp)) {
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
      canvas.style.height = `${height}px`;
    }
    const pen = canvas.getContext("2d"), ink = (this.#ink ??= colours());
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    pen.fillStyle = ink.ground;
    pen.fillRect(0, 0, width, height);
    pen.save();
    pen.beginPath();
    pen.rect(this.#names, 0, this.#width, height);
    pen.clip();
    pen.font = FONT;
    pen.textBaseline = "middle";
    const { head } = this.#drawn, from = this.#x(head.begin);
    this.#columns ??= columns(this.#rows, head.width, height, Math.ceil(sharp), ink);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.#columns, from, 0, this.#x(head.end) - from, height);
    for (const { row, top, height: tall } of this.#rows) if (row.form === "spans") this.#spans(pen, ink, row, top, tall);
    this.#ruler(pen, ink, height);
    pen.restore();
    this.#strip(pen, ink);
    pen.textBaseline = "middle";
    let before = "";
    for (const { row, top, height: tall } of this.#rows) {
      pen.fillStyle = ink.quiet;
      if (row.track !== before) pen.fillText(row.track, 6, top + tall / 2, this.#names - 10);
      before = row.track;
    }
    canvas.dataset.window = `${head.begin}:${head.end}`;
    canvas.dataset.known = String(head.known);
    if (this.#shows !== null) measuredPicture("drag-to-picture", this.#shows);
    this.#shows = null;
  }

  /** Colours are others from now on. */
  #inkAnew() {
    this.#ink = null;
    this.#columns = null;
    this.#paintSoon();
  }

  /** Leave room for the names of the rows, as far as there is any: a narrow page needs it for the rows. */
  #nameAll() {
    const pen = this.#canvas.getContext("2d"), before = this.#names;
    pen.font = FONT;
    const widest = Math.max(...this.#drawn.rows.map(({ track }) => pen.measureText(track).width), 0);
    this.#names = Math.ceil(Math.min(Math.max(widest + 14, 74), Math.max(110, this.#wide / 6)));
    if (this.#names !== before) this.refresh();
  }

  #place() {
    let top = RULER + STRIP;
    this.#rows = this.#drawn.rows.map((row, number) => {
      const height = row.form === "counter" ? COUNTER : SPANS, place = { row, number, top, height };
      top += height + GAP;
      return place;
    });
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
      const text = figure(cycle);
      if (x + 3 + pen.measureText(text).width <= this.#wide) pen.fillText(text, x + 3, 10);
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

  /** The whole run, below the ruler: where the window is in it, and the cycle. */
  #strip(pen, ink) {
    const x = (cycle) => this.#names + (cycle / this.#whole) * this.#width, { begin, end } = this.#window;
    pen.fillStyle = ink.line;
    pen.fillRect(this.#names, RULER + 4, this.#width, 1);
    pen.fillStyle = ink.quiet;
    pen.fillRect(x(begin), RULER + 2, Math.max(3, x(end) - x(begin)), 5);
    pen.fillStyle = ink.here;
    pen.fillRect(x(this.#cycle) - 0.75, RULER, 1.5, STRIP - 1);
  }

  /** Put the middle of the window where the strip was touched. */
  #lookAt(x, since) {
    const { begin, end } = this.#window, middle = ((x - this.#names) / this.#width) * this.#whole;
    this.look(middle - (end - begin) / 2, middle + (end - begin) / 2, since);
  }

  #zoom(factor, about, since) {
    const { begin, end } = this.#window, length = (end - begin) * factor;
    const share = (about - begin) / (end - begin);
    this.look(about - share * length, about + (1 - share) * length, since);
  }

  #pan(cycles, since) { const { begin, end } = this.#window; this.look(begin + cycles, end + cycles, since); }
  #go(cycle, since) { this.dispatchEvent(new CustomEvent("goto", { detail: { cycle: Math.max(0, Math.min(this.#whole, Math.round(cycle))), since } })); }

  #pointer() {
    const canvas = this.#canvas;
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held = { x: event.offsetX, window: this.window, moved: false, scrub: event.offsetY < RULER, strip: event.offsetY >= RULER && event.offsetY < RULER + STRIP };
      if (held.strip) this.#lookAt(event.offsetX, event.timeStamp);
      else if (held.scrub) this.#go(this.#cycleAt(event.offsetX), event.timeStamp);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) { this.#point(event); return; }
      if (held.strip) { this.#lookAt(event.offsetX, event.timeStamp); return; }
      if (held.scrub) { this.#go(this.#cycleAt(event.offsetX), event.timeStamp); return; }
      if (Math.abs(event.offsetX - held.x) > 3) held.moved = true;
      if (!held.moved) return;
      const { begin, end } = held.window, moved = ((held.x - event.offsetX) / this.#width) * (end - begin);
      this.look(begin + moved, end + moved, event.timeStamp);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved && !held.scrub && !held.strip && event.offsetX > this.#names) this.#go(this.#cycleAt(event.offsetX), event.timeStamp);
      held = null;
    });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("wheel", (event) => {
      if (!event.deltaX && event.shiftKey === false && !event.ctrlKey && event.offsetX <= this.#names) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.#pan((event.deltaX / this.#width) * (this.#window.end - this.#window.begin), event.timeStamp);
      else this.#zoom(Math.exp(event.deltaY / 400), this.#cycleAt(Math.max(this.#names, event.offsetX)), event.timeStamp);
    }, { passive: false });
  }

  #keys() {
    for (const button of document.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.#canvas.dispatchEvent(new KeyboardEvent("keydown", { key: button.dataset.zoom })));
    }
    this.#canvas.addEventListener("keydown", (event) => {
      const { begin, end } = this.#window, length = end - begin, middle = (begin + end) / 2;
      const about = this.#cycle >= begin && this.#cycle <= end ? this.#cycle : middle;
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by && event.shiftKey) this.#go(this.#cycle + by * Math.max(1, Math.round(length / 100)), event.timeStamp);
      else if (by) this.#pan(by * length * 0.1, event.timeStamp);
      else if (event.key === "+" || event.key === "=") this.#zoom(0.7, about, event.timeStamp);
      else if (event.key === "-") this.#zoom(1 / 0.7, about, event.timeStamp);
      else if (event.key === "Home") this.look(0, this.#whole, event.timeStamp);
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

/** Return the rows of shares and counters as one picture: it is made once, however often it is moved. */
function columns(rows, width, tall, sharp, ink) {
  const picture = new ImageData(width, Math.max(1, tall * sharp)), pixels = new Uint32Array(picture.data.buffer);
  const upright = (at, from, to, colour) => { for (let y = from; y < to; y++) pixels[y * width + at] = colour; };
  const busy = word(ink.busy), wait = word(ink.wait), sure = word(ink.access), range = word(ink.access, 90);
  for (const { row, top, height } of rows) {
    const low = (top + height) * sharp, room = height * sharp;
    const up = (share) => (share ? Math.max(1, Math.round(share * room)) : 0); // a little is more than nothing
    if (row.form === "shares") {
      for (let at = 0; at < width; at++) {
        const middle = low - up(row.busy[at] / 255), high = Math.max(low - room, middle - up(row.waiting[at] / 255));
        upright(at, middle, low, busy);
        upright(at, high, middle, wait);
      }
    } else if (row.form === "counter") {
      const most = row.most || 1;
      for (let at = 0; at < width; at++) {
        const high = low - up(row.greatest[at] / most), least = low - up(row.least[at] / most);
        upright(at, high, low, range);
        upright(at, high, Math.min(low, Math.max(least, high + 1)), sure);
      }
    }
  }
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("2d").putImageData(picture, 0, 0);
  return canvas;
}

/** Return a colour as a word of an image: its bytes are red, green, blue and how much it covers. */
function word(colour, alpha = 255) {
  const [red, green, blue] = colour.match(/\d+/g).map(Number);
  return new Uint32Array(new Uint8Array([red, green, blue, alpha]).buffer)[0];
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
