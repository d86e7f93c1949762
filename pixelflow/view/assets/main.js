// The page: its tabs, its colours, the link, and the two views on it.

import { Alive } from "./alive.js";
import { Explorer } from "./explorer.js";
import { Link, Refused } from "./link.js";

const tabs = [...document.querySelectorAll("[role=tab]")];

function show(name) {
  for (const tab of tabs) {
    const chosen = tab.dataset.view === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
  history.replaceState(null, "", `#${name}`);
  if (name === "run") explorer.shown(); else alive.shown();
}

for (const [at, tab] of tabs.entries()) {
  tab.addEventListener("click", () => show(tab.dataset.view));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(at + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
}

/** A page that serves a trace draws nothing: there is one view, and no choice. */
function runAlone() {
  document.querySelector("[role=tablist]").hidden = true;
  if (document.getElementById("view-run").hidden) show("run");
}

const theme = document.getElementById("theme");
theme.value = localStorage.getItem("pixelflow.theme") ?? "auto";
function colour() {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  localStorage.setItem("pixelflow.theme", theme.value);
  document.dispatchEvent(new Event("colours"));
}
theme.addEventListener("change", colour);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", colour);

const link = new Link();
const status = document.getElementById("link");
link.addEventListener("state", ({ detail }) => {
  if (status.dataset.state !== detail.state) status.dataset.state = detail.state;
  if (status.textContent !== detail.text) status.textContent = detail.text;
});
const explorer = new Explorer(link);
const alive = new Alive(link, () => { explorer.forget(); show("run"); });
colour();
show(location.hash === "#run" ? "run" : "alive");
link.addEventListener("open", async () => {
  explorer.connected();
  try { await alive.connected(); } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (status.dataset.state !== "closed") runAlone();
  }
});
