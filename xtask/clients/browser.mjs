// A headless Chromium that is driven over a pipe: nothing of it but the browser itself comes from elsewhere.
//
// The browser is the file that CHROMIUM names, or the one of the package @sparticuz/chromium, which is unpacked beside
// the packages, with the libraries that a small system lacks.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

const PATIENCE = 30_000;
const FLAGS = [
  "--headless",
  // Containers give no user namespaces, which the sandbox needs; the pages are our own.
  "--no-sandbox",
  "--no-zygote",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--remote-debugging-pipe",
];

function unpacked(packed, home) {
  if (existsSync(join(home, "chromium"))) return;
  mkdirSync(home, { recursive: true });
  const content = (name) => brotliDecompressSync(readFileSync(join(packed, name)));
  execFileSync("tar", ["-x", "-C", home], { input: content("al2023.tar.br") });
  execFileSync("tar", ["-x", "-C", home], { input: content("fonts.tar.br") });
  const places = `<dir>${join(home, "fonts")}</dir><cachedir>${join(home, "cache")}</cachedir>`;
  writeFileSync(join(home, "fonts.conf"), `<?xml version="1.0"?>\n<fontconfig>${places}</fontconfig>\n`);
  writeFileSync(join(home, "chromium.part"), content("chromium.br"), { mode: 0o755 });
  renameSync(join(home, "chromium.part"), join(home, "chromium"));
}

function program(folder) {
  if (process.env.CHROMIUM) return [process.env.CHROMIUM, process.env];
  const home = join(folder, "chromium");
  unpacked(join(folder, "node_modules/@sparticuz/chromium/bin"), home);
  const libraries = [process.env.LD_LIBRARY_PATH, join(home, "lib")].filter(Boolean).join(":");
  const places = { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: join(home, "fonts.conf") };
  return [join(home, "chromium"), { ...process.env, ...places }];
}

/** A page of a browser; `folder` is where the packages are. End it with `close`. */
export async function openPage(folder) {
  const profile = mkdtempSync(join(tmpdir(), "forgeway-browser-"));
  const [path, env] = program(folder);
  const stdio = ["ignore", "ignore", "ignore", "pipe", "pipe"];
  const child = spawn(path, [...FLAGS, `--user-data-dir=${profile}`, "about:blank"], { env, stdio });
  const browser = new Browser(child);
  const { targetInfos } = await browser.send("Target.getTargets");
  const { targetId } = targetInfos.find((target) => target.type === "page");
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const page = new Page(browser, sessionId);
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(`${domain}.enable`);
  page.close = async () => {
    const ended = new Promise((done) => child.once("exit", done));
    browser.send("Browser.close").catch(() => child.kill());
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return page;
}

class Browser {
  constructor(child) {
    this.child = child;
    this.calls = new Map();
    this.listeners = [];
    this.last = 0;
    let left = "";
    child.stdio[4].setEncoding("utf8").on("data", (piece) => {
      const messages = (left + piece).split("\0");
      left = messages.pop();
      for (const message of messages) this.receive(JSON.parse(message));
    });
    child.once("exit", () => this.fail(new Error("the browser has ended")));
    child.once("error", (cause) => this.fail(cause));
  }

  fail(cause) {
    for (const { reject } of this.calls.values()) reject(cause);
    this.calls.clear();
  }

  receive(message) {
    const call = this.calls.get(message.id);
    this.calls.delete(message.id);
    if (!call) return this.listeners.forEach((listen) => listen(message));
    return message.error ? call.reject(new Error(message.error.message)) : call.resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve, reject });
      this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }
}

class Page {
  constructor(browser, session) {
    Object.assign(this, { browser, session, complaints: [], requests: [] });
    browser.listeners.push(({ method, params, sessionId }) => {
      if (sessionId !== session) return;
      if (method === "Inspector.targetCrashed") browser.fail(new Error("the page has crashed"));
      if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
      if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.text);
      if (method === "Log.entryAdded" && params.entry.level === "error") this.complaints.push(params.entry.text);
    });
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  visit(url) {
    return this.send("Page.navigate", { url });
  }

  /** The value of an expression in the page. */
  async value(expression) {
    const wanted = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", wanted);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** The value of an expression once it is something. */
  async eventually(expression) {
    const end = Date.now() + PATIENCE;
    while (Date.now() < end) {
      const value = await this.value(expression);
      if (value) return value;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`nothing came of ${expression}`);
  }

  async click(selector) {
    const place = `(() => { const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 }; })()`;
    const { x, y } = await this.value(place);
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    }
  }

  /** Presses a key, with Ctrl where `control` is. */
  async press(key, code, keyCode, control = false) {
    const event = { key, code, windowsVirtualKeyCode: keyCode, modifiers: control ? 2 : 0 };
    await this.send("Input.dispatchKeyEvent", { ...event, type: "rawKeyDown" });
    await this.send("Input.dispatchKeyEvent", { ...event, type: "keyUp" });
  }

  type(text) {
    return this.send("Input.insertText", { text });
  }
}
