// The simulator in a worker, so that the page stays alive: Pyodide, numpy, the packages of this repository, driver.py.
import { loadPyodide } from "./pyodide.mjs";

const say = (text) => postMessage({ say: text });

async function begin() {
  say("loading Python");
  const python = await loadPyodide({ indexURL: new URL(".", import.meta.url).href });
  const { archives } = await (await fetch("files.json")).json();
  for (const [name, form] of archives) {
    say(`loading ${name}`);
    python.unpackArchive(await (await fetch(name)).arrayBuffer(), form);
  }
  say("starting the machine");
  const answer = python.pyimport("driver").answer;
  postMessage({ ready: true });
  return answer;
}

const answer = begin();
answer.catch((error) => postMessage({ failed: String(error) }));
onmessage = async ({ data }) => postMessage(JSON.parse((await answer)(JSON.stringify(data))));
