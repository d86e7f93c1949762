// The link to the server: questions with their answers, over one web socket or over what a notebook gives.

const NAME = "pixelflow.page";
const ELSEWHERE = 4409, TOO_MANY = 4429;
const ENDED = [1001, 1012]; // what a server says that ends
const MOST_TRIES = 6;

/** An answer that says what is wrong. */
export class Refused extends Error {}

function newName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((each) => each.toString(16).padStart(2, "0")).join("");
}

/** A web socket to the server of this page, which comes back when it breaks. A server that has ended is not asked
 *  again: the next one has another token. */
class SocketChannel {
  #socket = null; #pause = 200; #tries = 0; #hear = null;

  /** Begin to talk; what comes is told to ``hear``: opened(), message(ArrayBuffer), closed(reason). */
  open(hear) {
    this.#hear = hear;
    if (!sessionStorage.getItem(NAME)) sessionStorage.setItem(NAME, newName());
    this.#connect();
  }

  get isOpen() { return this.#socket?.readyState === WebSocket.OPEN; }
  send(text) { this.#socket.send(text); }

  #connect() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    address.hash = "";
    address.searchParams.set("page", sessionStorage.getItem(NAME));
    const socket = (this.#socket = new WebSocket(address));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => { this.#pause = 200; this.#tries = 0; this.#hear.opened(); };
    socket.onmessage = (message) => this.#hear.message(message.data);
    socket.onclose = (event) => this.#closed(event);
  }

  #closed(event) {
    if (ENDED.includes(event.code) || ++this.#tries > MOST_TRIES) {
      this.#hear.closed("the server has ended");
      return;
    }
    this.#hear.closed(event.reason || "not connected");
    if (event.code === TOO_MANY) this.#pause = 5000;
    if (event.code === ELSEWHERE) sessionStorage.setItem(NAME, newName());
    setTimeout(() => this.#connect(), this.#pause);
    this.#pause = Math.min(5000, this.#pause * 2);
  }
}

export class Link extends EventTarget {
  #channel; #number;
  #waiting = new Map();

  /** Talk over a channel: that of the page, or one that a notebook gives; numbers of questions come after ``first``. */
  constructor(channel = new SocketChannel(), first = 0) {
    super();
    this.#channel = channel;
    this.#number = first;
    channel.open({
      opened: () => { this.#say("open", "connected"); this.dispatchEvent(new Event("open")); },
      message: (data) => this.#take(data),
      closed: (reason) => this.#closed(reason),
    });
  }

  get isOpen() { return this.#channel.isOpen; }

  /** Ask; returns {head, body}, null where a later question has taken the place of this one. */
  ask(what, fields = {}) {
    if (!this.#channel.isOpen) return Promise.reject(new Refused("the server does not answer"));
    const id = ++this.#number;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#channel.send(JSON.stringify({ id, do: what, ...fields }));
    this.#busy();
    return answer;
  }

  #take(data) {
    const length = new DataView(data).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    const body = data.slice(4 + length);
    if (head.tell) {
      this.dispatchEvent(new CustomEvent(head.tell, { detail: head }));
      return;
    }
    const waiting = this.#waiting.get(head.id);
    this.#waiting.delete(head.id);
    this.#busy();
    if (!waiting) return;
    if (head.superseded) waiting.resolve(null);
    else if (head.error) waiting.reject(new Refused(head.error));
    else waiting.resolve({ head, body });
  }

  #closed(reason) {
    for (const each of this.#waiting.values()) each.reject(new Refused("the server does not answer"));
    this.#waiting.clear();
    this.#say("closed", reason);
  }

  #busy() {
    if (this.#channel.isOpen) this.#say(this.#waiting.size ? "busy" : "open", "connected");
  }

  #say(state, text) {
    this.dispatchEvent(new CustomEvent("state", { detail: { state, text } }));
  }
}

/** Keeps questions under way: of those that are asked meanwhile the last one follows. */
export class Latest {
  #ask; #pace; #next = null; #begun = 0; #timer = 0;
  under = 0;

  /** ``pace`` returns how many may be under way, one if it is left out, and how many milliseconds apart they begin. */
  constructor(ask, pace = () => [1, 0]) { this.#ask = ask; this.#pace = pace; }

  put(value) {
    this.#next = { value };
    this.#go();
  }

  /** Forget what is not yet under way. */
  drop() { this.#next = null; }

  /** Whether the only one under way is the last one. */
  get last() { return this.under === 1 && !this.#next; }

  async #go() {
    clearTimeout(this.#timer);
    const [most, gap] = this.#pace(), early = this.under ? this.#begun + gap - performance.now() : 0;
    if (!this.#next || this.under >= most) return;
    if (early > 0) { this.#timer = setTimeout(() => this.#go(), early); return; }
    const { value } = this.#next;
    this.#next = null;
    this.under += 1;
    this.#begun = performance.now();
    try { await this.#ask(value); } catch (error) { if (!(error instanceof Refused)) throw error; } finally { this.under -= 1; }
    this.#go();
  }
}

export const figure = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });

/** Make an element: attributes, then children, which are text unless they are elements. */
export function made(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") element.className = value; else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** Note how long something took, for whoever looks at the browser's measures. */
export function measured(name, since) {
  performance.measure(name, { start: since, end: performance.now() });
  if (performance.getEntriesByName(name).length > 2000) performance.clearMeasures(name);
}

/** Note how long it took until what has just been drawn is a picture: the browser begins the next one. */
export function measuredPicture(name, since) { requestAnimationFrame(() => measured(name, since)); }
