// The run explorer in a notebook: the files of the page in a frame of their own, over the widget's messages.

const FILES = ["link.js", "elements.js", "listing.js", "timeline.js", "explorer.js"];
const VIEW = 2 ** 32;

/** The channel of a link: each text is a message to the kernel, whose answers come as bytes to all views. */
class ModelChannel {
  isOpen = true;
  #model; #heard;
  constructor(model) { this.#model = model; }
  open(hear) {
    this.#heard = (content, buffers) => {
      const { buffer, byteOffset, byteLength } = new Uint8Array(buffers[0].buffer ?? buffers[0], buffers[0].byteOffset ?? 0, buffers[0].byteLength);
      hear.message(buffer.slice(byteOffset, byteOffset + byteLength));
    };
    this.#model.on("msg:custom", this.#heard);
    queueMicrotask(() => hear.opened());
  }
  send(text) { this.#model.send({ ask: text }); }
  close() { this.isOpen = false; this.#model.off("msg:custom", this.#heard); }
}

/** Give every file an address of its own, and name it where another one imports it. */
function modules(assets, addresses) {
  for (const name of FILES) {
    const text = assets[name].replaceAll(/from "\.\/([a-z]+\.js)"/g, (_, other) => `from "${addresses[other]}"`);
    addresses[name] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  return addresses;
}

async function render({ model, el }) {
  const assets = model.get("assets");
  const frame = document.createElement("iframe");
  frame.title = "run explorer";
  frame.style.cssText = "width: 100%; border: 0";
  const size = () => { frame.style.height = `${model.get("height")}px`; };
  size();
  model.on("change:height", size);
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  const page = new DOMParser().parseFromString(assets["index.html"], "text/html");
  const part = page.getElementById("view-run");
  part.hidden = false;
  frame.srcdoc = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>run explorer</title></head><body><main>${part.outerHTML}</main></body></html>`;
  el.append(frame);
  await loaded;
  const inside = frame.contentDocument;
  const style = inside.createElement("style");
  style.textContent = assets["style.css"];
  inside.head.append(style);
  const addresses = modules(assets, {});
  const channel = new ModelChannel(model);
  frame.contentWindow.pixelflow = { channel, first: Math.floor(Math.random() * 2 ** 16) * VIEW };
  const script = inside.createElement("script");
  script.type = "module";
  script.textContent = `
    import { Explorer } from "${addresses["explorer.js"]}";
    import { Link } from "${addresses["link.js"]}";
    const link = new Link(window.pixelflow.channel, window.pixelflow.first);
    const explorer = new Explorer(link);
    link.addEventListener("open", () => explorer.connected());`;
  inside.body.append(script);
  return () => {
    channel.close();
    model.off("change:height", size);
    for (const each of Object.values(addresses)) URL.revokeObjectURL(each);
  };
}

export default { render };
