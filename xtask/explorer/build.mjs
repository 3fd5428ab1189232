// Builds the files of the GraphQL explorer from their packages into a folder, each compressed: `node build.mjs FOLDER`.
// With `--check` nothing is written, and it is an error when a file of the folder would change.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

import { build } from "esbuild";

const OPTIONS = {
  entryPoints: {
    explorer: "explorer.js",
    "editor.worker": "monaco-editor/esm/vs/editor/editor.worker.js",
    "graphql.worker": "monaco-graphql/esm/graphql.worker.js",
    "json.worker": "monaco-editor/esm/vs/language/json/json.worker.js",
  },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  outdir: "out",
  write: false,
  metafile: true,
  assetNames: "[name]",
  loader: { ".ttf": "file" },
  define: { "process.env.NODE_ENV": '"production"' },
  // The licences of all packages stand in a file of their own.
  legalComments: "none",
  logLevel: "warning",
};

// The packages whose code is in the result, by the folders of its parts.
function packages(inputs) {
  const folders = Object.keys(inputs).map((path) => {
    const parts = path.split("/");
    const start = parts.lastIndexOf("node_modules");
    if (start < 0) return null;
    return parts.slice(0, start + (parts[start + 1].startsWith("@") ? 3 : 2)).join("/");
  });
  return [...new Set(folders.filter(Boolean))].sort();
}

function about(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json")));
}

function title(folder) {
  const { name, version, license } = about(folder);
  return `${name} ${version}: ${license}`;
}

function licence(folder) {
  const { author } = about(folder);
  const names = readdirSync(folder).filter((name) => /^(licen[cs]e|notice)/i.test(name)).sort();
  const texts = names.map((name) => readFileSync(join(folder, name), "utf8").trim());
  if (texts.length === 0 && author) texts.push(`Copyright (c) ${author.name ?? author}`);
  return [title(folder), "-".repeat(title(folder).length), ...texts].join("\n\n");
}

const [folder, mode] = process.argv.slice(2);
assert(folder, "which folder?");
const { outputFiles, metafile } = await build(OPTIONS);
const files = new Map(outputFiles.map((file) => [basename(file.path), Buffer.from(file.contents)]));
const folders = packages(metafile.inputs);
const licences = folders.map(licence).join("\n\n\n");
files.set("licences.txt", Buffer.from(`${licences.replaceAll("\r\n", "\n")}\n`));
const notice = `The files here hold code of these packages, whose licenses are in licences.txt.gz:\n
${folders.map(title).join("\n")}\n`;
const refuse = (name) => assert.notEqual(mode, "--check", `${name} is stale: run \`cargo xtask explorer\``);
mkdirSync(folder, { recursive: true });
if (!existsSync(join(folder, "NOTICE")) || readFileSync(join(folder, "NOTICE"), "utf8") !== notice) {
  refuse("NOTICE");
  writeFileSync(join(folder, "NOTICE"), notice);
}
for (const [name, content] of files) {
  const path = join(folder, `${name}.gz`);
  // The compressed form differs from one release of zlib to the next, so that the content is compared.
  if (existsSync(path) && gunzipSync(readFileSync(path)).equals(content)) continue;
  refuse(name);
  writeFileSync(path, gzipSync(content, { level: 9 }));
  console.log(`${name}: ${content.length} bytes`);
}
