// The listing: a program of any length, of which only the rows in sight are there, below the headings of its columns.

import { figure, Latest, made } from "./link.js";

const HIGH = 18, CHUNK = 200;

export class Listing extends EventTarget {
  #link; #place; #count = 0; #rows = new Map(); #heat = new Map(); #hottest = 1; #marks = new Map(); #stops = new Set();
  #wanted = new Set(); #window = 1; #pending = false; #longest = 0; #ground; #latestHeat; #stoppable = true;

  constructor(link, place) {
    super();
    this.#link = link;
    this.#place = place;
    this.#ground = made("div", { class: "ground", role: "rowgroup" });
    place.append(this.#ground);
    place.addEventListener("scroll", () => this.#paintSoon());
    new ResizeObserver(() => this.#paintSoon()).observe(place);
    this.#latestHeat = new Latest((window) => this.#fetchHeat(window));
  }

  /** So many rows; ``stoppable`` where a click beside an instruction sets a stop. */
  open(count, stoppable = true) {
    this.#count = count;
    this.#stoppable = stoppable;
    this.#rows.clear(); this.#heat.clear(); this.#marks.clear(); this.#wanted.clear(); this.#stops.clear();
    this.#longest = 0;
    this.#place.setAttribute("aria-rowcount", String(count + 1));
    this.#place.style.setProperty("--longest", "0ch");
    this.#ground.style.height = `${count * HIGH}px`;
    this.#place.scrollTop = 0;
    this.#paintSoon();
  }

  /** Ask for the cycles of each row in a window. */
  warm(window) { this.#latestHeat.put(window); }

  /** Mark where streams stand: [row, name] each; with ``follow`` the first one comes into sight. */
  mark(places, follow) {
    this.#marks = new Map(places);
    const first = places[0]?.[0];
    if (follow && first !== undefined) {
      const { scrollTop, clientHeight } = this.#place, top = first * HIGH;
      if (top < scrollTop + HIGH || top > scrollTop + clientHeight - 3 * HIGH) this.#place.scrollTop = Math.max(0, top - clientHeight / 2);
    }
    this.#paintSoon();
  }

  async #fetchHeat(window) {
    const answer = await this.#link.ask("run.heat", { begin: window.begin, end: window.end });
    if (!answer) return;
    this.#heat = new Map(answer.head.rows.map(([row, busy, waiting]) => [row, [busy, waiting]]));
    this.#hottest = Math.max(1, ...[...this.#heat.values()].map(([busy, waiting]) => busy + waiting));
    this.#window = window.end - window.begin;
    this.#place.dataset.heat = `${window.begin}:${window.end}`;
    this.#paintSoon();
  }

  async #fetch(chunk) {
    if (this.#wanted.has(chunk)) return;
    this.#wanted.add(chunk);
    try {
      const answer = await this.#link.ask("run.rows", { first: chunk * CHUNK, count: CHUNK });
      answer.head.rows.forEach((row, at) => this.#rows.set(chunk * CHUNK + at, row));
      this.#widen(answer.head.rows);
      this.#paintSoon();
    } catch { this.#wanted.delete(chunk); }
  }

  #paintSoon() {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => { this.#pending = false; this.#paint(); });
  }

  #paint() {
    const { scrollTop, clientHeight } = this.#place;
    const first = Math.max(0, Math.floor(scrollTop / HIGH) - 4), last = Math.min(this.#count, Math.ceil((scrollTop + clientHeight) / HIGH) + 4);
    if (last <= first) { this.#ground.replaceChildren(); return; }
    for (let chunk = Math.floor(first / CHUNK); chunk <= Math.floor((last - 1) / CHUNK); chunk++) this.#fetch(chunk);
    const shown = [];
    for (let number = first; number < last; number++) shown.push(this.#row(number));
    this.#ground.replaceChildren(...shown);
  }

  /** Make all rows as wide as the longest text, so that they scroll sideways together. */
  #widen(rows) {
    for (const { text } of rows) this.#longest = Math.max(this.#longest, text.reduce((sum, [, piece]) => sum + piece.length, 0));
    this.#place.style.setProperty("--longest", `${this.#longest}ch`);
  }

  #row(number) {
    const row = this.#rows.get(number), mark = this.#marks.get(number), stopped = this.#stops.has(row?.address);
    const cell = (kind, attributes, ...children) => made("span", { class: kind, role: "cell", ...attributes }, ...children);
    const kinds = ["row", row?.form ?? "", mark ? "here" : "", stopped ? "stopped" : ""].filter(Boolean).join(" ");
    const found = made("div", { class: kinds, role: "row", "aria-rowindex": String(number + 2) },
      ...this.#heatOf(number, cell),
      cell("who", {}, this.#mark(row, mark, stopped)),
      cell("number", row?.place ? { title: row.place } : {}, String(row?.line ?? "")),
      cell("word", {}, String(row?.address ?? "")),
      cell("each", {}, String(row?.cycles ?? "")),
      cell("text", {}, ...(row ? row.text.map(([kind, piece]) => made("span", { class: kind }, piece)) : ["…"])));
    if (mark) found.setAttribute("aria-current", "true");
    found.style.top = `${number * HIGH}px`;
    return found;
  }

  /** The cycles of a row in the window, as bars and figures. */
  #heatOf(number, cell) {
    const [busy, waiting] = this.#heat.get(number) ?? [0, 0], scale = 100 / this.#hottest;
    const bars = [busy, waiting].map((cycles, at) => {
      const bar = made("i");
      bar.style.width = `${cycles * scale}%`;
      if (at) bar.style.left = `${busy * scale}%`;
      return bar;
    });
    const cycles = busy + waiting, share = (100 * cycles) / this.#window;
    return [
      cell("heat", cycles ? { title: `${figure(busy)} cycles busy, ${figure(waiting)} waiting in the window` } : {}, ...bars, cycles ? figure(cycles) : ""),
      cell("share", {}, share >= 0.1 ? `${figure(share, 1)}%` : ""),
    ];
  }

  /** Who stands at a row; where it is an instruction that a run can stop at, a button that makes it do so. */
  #mark(row, mark, stopped) {
    if (!this.#stoppable || row?.form !== "instruction") return mark ?? "";
    const label = `${stopped ? "stops" : "stop"} at word ${row.address}`;
    const button = made("button", { class: "mark", title: label, "aria-label": mark ? `${mark}, ${label}` : label, tabindex: "-1" }, mark ?? "");
    button.addEventListener("click", () => { this.#stops.add(row.address); this.dispatchEvent(new CustomEvent("stop", { detail: row.address })); this.#paintSoon(); });
    return button;
  }
}
