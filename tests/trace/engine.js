// Drives the trace processor that the viewer of Perfetto traces runs in a worker: requests on standard input, as one
// stream of protobufs, replies on standard output. Usage: node engine.js FOLDER, which holds engine_bundle.js.
"use strict";
const fs = require("fs");
const path = require("path");

const folder = process.argv[2];
const asked = new Uint8Array(fs.readFileSync(0));

function contents(name) {
  return new Uint8Array(fs.readFileSync(path.join(folder, path.basename(String(name))))).buffer;
}

// What the bundle looks at of a worker; the names stand before those of node, which it would not run under.
const self = { location: { href: "file:///engine_bundle.js" } };
const worker = {
  self,
  process: undefined,
  require: undefined,
  WorkerGlobalScope: class {},
  importScripts: () => {},
  XMLHttpRequest: class {
    open(method, name) {
      this.name = name;
    }
    send() {
      this.response = contents(this.name);
    }
  },
  fetch: async (name) => ({ ok: true, arrayBuffer: async () => contents(name) }),
  console: { log: () => {}, warn: (text) => process.stderr.write(text + "\n"), error: console.error },
};
const bundle = fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8");
new Function(...Object.keys(worker), bundle)(...Object.values(worker));

const port = { postMessage: (reply) => process.stdout.write(Buffer.from(reply)) };
self.onmessage({ data: port });

// Before the engine is ready it has no memory to put a request into, and says so by a TypeError.
function send() {
  try {
    port.onmessage({ data: asked });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    setTimeout(send, 20);
  }
}
setImmediate(send);
