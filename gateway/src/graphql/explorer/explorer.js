"use strict";

const ENDPOINT = "/api/graphql";
const SCHEMA_QUERY = `query Schema {
  __schema {
    queryType { name }
    types {
      kind name description
      fields(includeDeprecated: true) {
        name description isDeprecated deprecationReason
        args { name description type { ...Kind } defaultValue }
        type { ...Kind }
      }
      inputFields { name description type { ...Kind } defaultValue }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      possibleTypes { name }
    }
  }
}
fragment Kind on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;
const FIRST_QUERY = `query {
  currentUser { username }
  metadata { version }
  queryComplexity { score limit }
}`;

const at = (id) => document.getElementById(id);
const types = new Map();

function element(name, text, children = []) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

async function ask(query, variables) {
  const headers = { "Content-Type": "application/json" };
  const token = at("token").value.trim();
  if (token) headers.Authorization = `Bearer ${token}`;
  const body = JSON.stringify({ query, variables });
  const answer = await fetch(ENDPOINT, { method: "POST", headers, body, credentials: "omit" });
  const text = await answer.text();
  try {
    return { status: answer.status, body: JSON.parse(text) };
  } catch {
    return { status: answer.status, body: text };
  }
}

async function run() {
  at("status").textContent = "…";
  const began = performance.now();
  try {
    const written = at("variables").value.trim();
    const { status, body } = await ask(at("query").value, written ? JSON.parse(written) : null);
    at("answer").textContent = typeof body === "string" ? body : JSON.stringify(body, null, 2);
    at("status").textContent = `${status}, ${Math.round(performance.now() - began)} ms`;
  } catch (failure) {
    at("status").textContent = "";
    at("answer").textContent = String(failure);
  }
}

function written(type) {
  if (type.kind === "NON_NULL") return `${written(type.ofType)}!`;
  if (type.kind === "LIST") return `[${written(type.ofType)}]`;
  return type.name;
}

function named(type) {
  return type.ofType ? named(type.ofType) : type.name;
}

function link(text, name) {
  const button = element("button", text);
  button.addEventListener("click", () => show(name));
  return button;
}

function signature(field) {
  const parts = [element("span", field.name)];
  if (field.isDeprecated) parts[0].className = "deprecated";
  if (field.args?.length) {
    parts.push("(");
    field.args.forEach((argument, place) => {
      const fallback = argument.defaultValue === null ? "" : ` = ${argument.defaultValue}`;
      parts.push(place ? ", " : "", `${argument.name}: `);
      parts.push(link(written(argument.type), named(argument.type)), fallback);
    });
    parts.push(")");
  }
  if (field.type) parts.push(": ", link(written(field.type), named(field.type)));
  return element("dt", "", parts);
}

function members(list) {
  const rows = list.flatMap((member) => {
    const why = member.isDeprecated ? `Deprecated: ${member.deprecationReason}` : "";
    const about = [member.description, why].filter(Boolean).join(" ");
    return about ? [signature(member), element("dd", about)] : [signature(member)];
  });
  return element("dl", "", rows);
}

function show(name) {
  const type = types.get(name);
  if (!type) return;
  const parts = [element("h2", `${type.kind.toLowerCase().replace("_", " ")} ${type.name}`)];
  if (type.description) parts.push(element("p", type.description));
  for (const list of [type.fields, type.inputFields, type.enumValues]) {
    if (list) parts.push(members(list));
  }
  for (const possible of type.possibleTypes ?? []) {
    parts.push(element("div", "", [link(possible.name, possible.name)]));
  }
  at("schema").replaceChildren(...parts);
}

function find() {
  const wanted = at("search").value.trim().toLowerCase();
  if (!wanted) return show("Query");
  const found = [];
  for (const type of types.values()) {
    if (type.name.toLowerCase().includes(wanted)) found.push([type.name, type.name]);
    for (const field of type.fields ?? []) {
      if (field.name.toLowerCase().includes(wanted)) {
        found.push([`${type.name}.${field.name}`, type.name]);
      }
    }
  }
  const links = found.slice(0, 100).map(([text, name]) => element("div", "", [link(text, name)]));
  at("schema").replaceChildren(...links);
}

async function learn() {
  try {
    const { body } = await ask(SCHEMA_QUERY, null);
    for (const type of body.data.__schema.types) types.set(type.name, type);
    show(body.data.__schema.queryType.name);
  } catch (failure) {
    at("schema").textContent = `The schema cannot be read: ${failure}`;
  }
}

at("query").value = FIRST_QUERY;
at("run").addEventListener("click", run);
at("search").addEventListener("input", find);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
learn();
