// Reads a JSON array of Mermaid texts on stdin; prints a line for each that does not parse.
// Usage: node tests/mermaid.mjs FOLDER < texts.json
// FOLDER is where `npm install mermaid jsdom` has been run.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(resolve(process.argv[2], "x.js")));
const { JSDOM } = require("jsdom");
const page = new JSDOM("<!doctype html><body></body>");
globalThis.window = page.window;
globalThis.document = page.window.document;
const folder = resolve(process.argv[2], "node_modules/mermaid/dist/mermaid.esm.min.mjs");
const { default: mermaid } = await import(pathToFileURL(folder));

for (const text of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    await mermaid.parse(text);
  } catch (error) {
    console.log(`${String(error.message).split("\n")[0]}: ${JSON.stringify(text)}`);
  }
}
