// The run explorer: timeline, program, PEs and the debugger, all of one run at one cycle. A run that is a trace has no
// PEs and no debugger: what needs them is hidden, and movements are those of a cursor along the trace.

import { Elements } from "./elements.js";
import { figure, Latest, made, measuredPicture, Refused } from "./link.js";
import { Listing } from "./listing.js";
import { Timeline } from "./timeline.js";

const $ = (name) => document.getElementById(name);
const KEYS = { s: "step", u: "back", n: "next", f: "finish", c: "continue" };
const MOST = 1e15; // cycles that a question may name
const EVENTS = { step: ["next", "to the next event of the trace (s)"], back: ["before", "to the event before (u)"] };

export class Explorer {
  #link; #timeline; #listing; #elements; #open = null; #goto; #trailing = 0; #moved = null; #linked = false; #end = null;

  constructor(link) {
    this.#link = link;
    this.#timeline = new Timeline(link, $("timeline"));
    this.#listing = new Listing(link, $("listing"));
    this.#elements = new Elements(link);
    this.#goto = new Latest((cycle) => this.#move("run.goto", { cycle }));
    this.#timeline.addEventListener("goto", ({ detail }) => { this.#moved ??= detail.since; this.#goto.put(detail.cycle); });
    this.#timeline.addEventListener("window", () => this.#warmSoon());
    this.#timeline.addEventListener("place", ({ detail }) => { $("hover").textContent = detail; });
    this.#listing.addEventListener("stop", ({ detail }) => this.#command(`break *${detail}`));
    link.addEventListener("trace", ({ detail }) => {
      this.#timeline.grown(detail.end, detail.known);
      if (detail.ended) this.#warmSoon();
    });
    this.#controls();
  }

  connected() { this.#linked = true; this.#open = null; this.shown(); }
  forget() { this.#open = null; }

  async shown() {
    if ($("view-run").hidden || this.#open || !this.#linked) return;
    this.#open = {};
    try {
      const { head } = await this.#link.ask("run.open");
      $("no-run").hidden = head.run !== null;
      $("explorer").hidden = head.run === null;
      if (head.run === null) { this.#open = null; return; }
      this.#open = head;
      $("run-name").textContent = head.run;
      this.#furnish(head);
      this.#timeline.open(head.end ?? Math.max(head.known, 1000));
      this.#timeline.grown(head.end, head.known);
      await this.#move("run.state", {});
      this.#warmSoon();
    } catch (error) {
      this.#open = null;
      if (!(error instanceof Refused)) throw error;
      this.#complain(error.message);
    }
  }

  /** Say what run this is, and show what it has. */
  #furnish(head) {
    const about = [head.file, head.machine, `${figure(head.clock_mhz)} MHz`];
    if (this.#traced) about.push("a trace: buttons move the cursor, nothing is executed");
    else about.push(`engine ${head.engine}`, `configuration ${head.config_sha256.slice(0, 6)}`);
    $("run-about").textContent = about.filter(Boolean).join(" · ");
    for (const part of document.querySelectorAll("#explorer [data-needs=node]")) part.hidden = this.#traced;
    document.querySelector("#explorer .panes").classList.toggle("traced", this.#traced);
    document.querySelector("#explorer .pane.code").hidden = head.rows === 0;
    if (this.#traced) for (const [name, [, title]] of Object.entries(EVENTS)) document.querySelector(`[data-command=${name}]`).title = title;
    this.#listing.open(head.rows, !this.#traced);
    if (!this.#traced) this.#elements.open(head.maps, head.map);
  }

  get #traced() { return this.#open?.maps?.length === 0; }

  async #move(what, fields) {
    const since = what === "run.goto" ? this.#moved : null;
    if (since !== null) this.#moved = null;
    try {
      const answer = await this.#link.ask(what, fields);
      if (!answer) return;
      this.#show(answer.head);
      if (since !== null) requestAnimationFrame(() => measuredPicture("scrub-to-picture", since)); // which draws it
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#complain(error.message);
    }
  }

  async #command(text) {
    if (this.#traced) { await this.#along(text); return; }
    this.#say(`(pixelflow) ${text}`);
    await this.#move("run.command", { text });
  }

  /** Move the cursor of a trace: by an event, or to a cycle. */
  async #along(text) {
    const [, cycle] = text.match(/^goto (\d+)$/) ?? [];
    if (cycle !== undefined) await this.#move("run.goto", { cycle: Number(cycle) });
    else if (EVENTS[text]) await this.#move("run.step", { to: EVENTS[text][0] });
  }

  #complain(text) {
    if (!this.#traced) { this.#say(text); return; }
    $("hover").textContent = text;
  }

  #show(state) {
    this.#timeline.grown(state.end, state.known);
    this.#timeline.at(state.cycle);
    $("timeline").dataset.cycle = String(state.cycle);
    this.#end = state.end;
    if (document.activeElement !== $("cycle")) { $("cycle").value = String(state.cycle); this.#atCycle(""); }
    const names = new Map();
    for (const { row, name } of state.streams) if (row !== null) names.set(row, [...(names.get(row) ?? []), name.toUpperCase()]);
    const marks = [...names].map(([row, some]) => [row, some.length > 1 && this.#traced ? `${some.length} at` : some.join(" ")]);
    this.#listing.mark(marks, $("follow").checked);
    $("where").textContent = state.where;
    if (this.#traced) this.#parts(state); else this.#machine(state);
  }

  /** Which cycles the run can be taken to, in words. */
  get #allowed() { return this.#end === null ? "a whole number from 0 on" : `a whole number from 0 to ${figure(this.#end)}`; }

  /** Say beside the field of the cycle what is wrong with it; nothing where it is right. */
  #atCycle(text) {
    $("cycle-error").textContent = text;
    if (text) $("cycle").setAttribute("aria-invalid", "true"); else $("cycle").removeAttribute("aria-invalid");
  }

  /** What each part of a trace does in the cycle of the cursor. */
  #parts(state) {
    const rows = state.streams.map(({ name, doing }) => made("tr", {}, made("th", { scope: "row" }, name), made("td", {}, doing)));
    $("streams").replaceChildren(made("table", {}, made("caption", {}, "what each stream, unit and counter does in this cycle"), made("tbody", {}, ...rows)));
  }

  /** What the debugger says of a node. */
  #machine(state) {
    $("calls").textContent = state.calls;
    $("stops").textContent = state.stops;
    const rows = state.streams.map(({ name, stage, waits, halted, semaphores }) => made("tr", {}, made("th", { scope: "row" }, name.toUpperCase()),
      made("td", {}, halted ? "ended" : stage ?? "no stage yet"), made("td", {}, waits === null ? "" : `waits for ${waits.startsWith("sem") ? "" : "its "}${waits}`),
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
    submit("goto", () => {
      const given = $("cycle").value, cycle = given.replaceAll(/[,_\s]/g, "");
      const wrong = !/^\d+$/.test(cycle) || Number(cycle) > (this.#end ?? MOST);
      this.#atCycle(wrong ? `allowed: ${this.#allowed}` : "");
      if (wrong) { $("cycle").focus(); return; }
      $("cycle").blur();
      this.#command(`goto ${Number(cycle)}`).then(() => {
        if (this.#end !== null && Number(cycle) > this.#end) { $("cycle").value = given; this.#atCycle(`the run has ended before; allowed: ${this.#allowed}`); }
      });
    });
    $("cycle").addEventListener("input", () => this.#atCycle(""));
    submit("stop", () => { const place = $("place").value.trim(); if (place) { this.#command(`break ${place}`); $("place").value = ""; } });
    submit("command", () => { const text = $("text").value.trim(); if (text) { this.#command(text); $("text").value = ""; } });
    document.addEventListener("keydown", (event) => {
      if ($("view-run").hidden || !this.#open || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
      if (event.key === "Escape") this.#interrupt();
      else if (KEYS[event.key]) this.#command(KEYS[event.key]);
    });
  }
}
