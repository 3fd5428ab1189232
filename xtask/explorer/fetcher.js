// Sends operations with the token of the page. Subscriptions answer as Server-Sent Events, all else as JSON.
const ENDPOINT = new URL("../api/graphql", document.baseURI);
const CSRF = document.querySelector("meta[name=csrf-token]")?.content;

export function fetcherWith(token) {
  return (operation, options = {}) => {
    const accept = options.documentAST && isSubscription(operation, options.documentAST);
    const headers = { "Content-Type": "application/json", ...options.headers };
    headers.Accept = accept ? "text/event-stream" : "application/json";
    const secret = token();
    // With a token cookies are not sent: it alone says who asks. Without one the session does, with the page's value.
    if (secret) headers.Authorization = `Bearer ${secret}`;
    else if (CSRF) headers["X-CSRF-Token"] = CSRF;
    const credentials = secret ? "omit" : "same-origin";
    const request = { method: "POST", credentials, headers, body: JSON.stringify(operation) };
    return accept ? events(request) : answer(request);
  };
}

function isSubscription({ operationName }, { definitions }) {
  const operations = definitions.filter((one) => one.kind === "OperationDefinition");
  const chosen = operations.find((one) => !operationName || one.name?.value === operationName);
  return chosen?.operation === "subscription";
}

async function answer(request) {
  const response = await fetch(ENDPOINT, request);
  return json(await response.text(), response);
}

function json(text, response) {
  try {
    return JSON.parse(text);
  } catch {
    return { errors: [{ message: `The server answered ${response.status}`, extensions: { body: text } }] };
  }
}

// One result for each event of the name `next`, until `complete`.
async function* events(request) {
  const stop = new AbortController();
  try {
    const response = await fetch(ENDPOINT, { ...request, signal: stop.signal });
    if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
      yield json(await response.text(), response);
      return;
    }
    let left = "";
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (left + piece).replaceAll("\r\n", "\n").split("\n\n");
      left = blocks.pop();
      for (const block of blocks) {
        const { event, data } = read(block);
        if (event === "complete") return;
        if (data) yield JSON.parse(data);
      }
    }
  } finally {
    stop.abort();
  }
}

function read(block) {
  const fields = { event: "message", data: "" };
  for (const line of block.split("\n")) {
    const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (name === "data") fields.data += value;
    if (name === "event") fields.event = value;
  }
  return fields;
}
