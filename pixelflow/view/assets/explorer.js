// The run explorer: timeline, program, PEs and the debugger, all of one run at one cycle.

import { Elements } from "./elements.js";
import { figure, Latest, made, measured, Refused } from "./link.js";
import { Listing } from "./listing.js";
import { Timeline } from "./timeline.js";

const $ = (name) => document.getElementById(name);
const KEYS = { s: "step", u: "back", n: "next", f: "finish", c: "continue" };

export class Explorer {
  #link; #timeline; #listing; #elements; #open = null; #goto; #trailing = 0; #moved = null; #linked = false;

  constructor(link) {
    this.#link = link;
    this.#timeline = new Timeline(link, $("timeline"));
    this.#listing = new Listing(link, $("listing"));
    this.#elements = new Elements(link);
    this.#goto = new Latest((cycle) => this.#move("run.goto", { cycle }));
    this.#timeline.addEventListener("goto", ({ detail }) => { this.#moved ??= performance.now(); this.#goto.put(detail); });
    this.#timeline.addEventListener("window", () => this.#warmSoon());
    this.#timeline.addEventListener("place", ({ detail }) => { $("hover").textContent = detail; });
    this.#listing.addEventListener("stop", ({ detail }) => this.#command(`break *${detail}`));
    link.addEventListener("trace", ({ detail }) => {
      this.#timeline.grown(detail.end ?? detail.known, detail.known);
      if (detail.ended) this.#warmSoon();
    });
    this.#controls();
  }

  connected() { this.#linked = true; this.#open = null; this.shown(); }
  forget() { this.#open = null; }

  async shown() {
    if ($("run").hidden || this.#open || !this.#linked) return;
    this.#open = {};
    try {
      const { head } = await this.#link.ask("run.open");
      $("no-run").hidden = head.run !== null;
      $("explorer").hidden = head.run === null;
      if (head.run === null) { this.#open = null; return; }
      this.#open = head;
      $("run-name").textContent = head.run;
      $("run-about").textContent = `${head.file} · ${figure(head.clock_mhz)} MHz · engine ${head.engine} · configuration ${head.config_sha256.slice(0, 6)}`;
      this.#listing.open(head.rows);
      this.#elements.open(head.maps);
      this.#timeline.open(head.end ?? Math.max(head.known, 1000));
      this.#timeline.grown(head.end ?? head.known, head.known);
      await this.#move("run.state", {});
      this.#warmSoon();
    } catch (error) {
      this.#open = null;
      if (!(error instanceof Refused)) throw error;
      this.#say(error.message);
    }
  }

  async #move(what, fields) {
    const since = this.#moved ?? performance.now();
    this.#moved = null;
    try {
      const answer = await this.#link.ask(what, fields);
      if (!answer) return;
      this.#show(answer.head);
      if (what === "run.goto") measured("goto-to-state", since);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#say(error.message);
    }
  }

  async #command(text) {
    this.#say(`(pixelflow) ${text}`);
    await this.#move("run.command", { text });
  }

  #show(state) {
    this.#timeline.grown(state.end ?? state.known, state.known);
    this.#timeline.at(state.cycle);
    $("timeline").dataset.cycle = String(state.cycle);
    if (document.activeElement !== $("cycle")) $("cycle").value = String(state.cycle);
    const names = new Map();
    for (const { row, name } of state.streams) if (row !== null) names.set(row, [names.get(row), name.toUpperCase()].filter(Boolean).join(" "));
    this.#listing.mark([...names], $("follow").checked);
    $("where").textContent = state.where;
    $("calls").textContent = state.calls;
    $("stops").textContent = state.stops;
    const rows = state.streams.map(({ name, stage, waits, halted, semaphores }) => made("tr", {}, made("th", { scope: "row" }, name.toUpperCase()),
      made("td", {}, halted ? "ended" : stage ?? "no stage yet"), made("td", {}, waits === null ? "" : `waits for sem ${waits}`),
      made("td", {}, Object.entries(semaphores).map(([number, count]) => `sem ${number}: ${count}`).join(", "))));
    $("streams").replaceChildren(made("table", {}, made("caption", {}, "streams: stage, wait, signals to take"), made("tbody", {}, ...rows)));
    if (state.said.trim()) this.#say(state.said.trimEnd());
    this.#elements.refresh();
  }

  #say(text) {
    const place = $("said");
    place.append(`${text}\n`);
    while (place.textContent.length > 40_000 && place.childNodes.length > 1) place.firstChild.remove();
    place.scrollTop = place.scrollHeight;
  }

  #warmSoon() {
    clearTimeout(this.#trailing);
    this.#trailing = setTimeout(() => this.#listing.warm(this.#timeline.window), 60);
  }

  #interrupt() { this.#link.ask("run.interrupt").catch(() => {}); }

  #controls() {
    for (const button of document.querySelectorAll("[data-command]")) button.addEventListener("click", () => this.#command(button.dataset.command));
    $("interrupt").addEventListener("click", () => this.#interrupt());
    const submit = (form, then) => $(form).addEventListener("submit", (event) => { event.preventDefault(); then(); });
    submit("goto", () => { const cycle = $("cycle").value.replaceAll(/[,_\s]/g, ""); if (cycle) this.#command(`goto ${cycle}`); });
    submit("stop", () => { const place = $("place").value.trim(); if (place) { this.#command(`break ${place}`); $("place").value = ""; } });
    submit("command", () => { const text = $("text").value.trim(); if (text) { this.#command(text); $("text").value = ""; } });
    document.addEventListener("keydown", (event) => {
      if ($("run").hidden || !this.#open || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
      if (event.key === "Escape") this.#interrupt();
      else if (KEYS[event.key]) this.#command(KEYS[event.key]);
    });
  }
}
