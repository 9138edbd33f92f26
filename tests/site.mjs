// Reads the pages of 'make site' in a browser; prints each fault, and exits 1 if there is one.
// Usage: node tests/site.mjs FOLDER BROWSER SITE [PICTURES]
// FOLDER is where `npm install playwright-core axe-core` has been run.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";

const [folder, executablePath, site, pictures] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(folder, "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };
const SCHEMES = ["light", "dark"];
const PICTURED = ["index", "tour", "commands", "how-to/hub", "decisions/0015-accumulate-support"];

const faults = new Set();
function check(right, place, fault) {
  const line = `${place}: ${fault}`.replaceAll(origin, "");
  if (right || faults.has(line)) return;
  faults.add(line);
  console.error(line);
}

const server = createServer((request, response) => {
  const path = join(site, decodeURI(new URL(request.url, "http://site").pathname));
  const type = TYPES[extname(path)] ?? "application/octet-stream";
  response.writeHead(existsSync(path) ? 200 : 404, { "content-type": type });
  response.end(existsSync(path) ? readFileSync(path) : "");
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const origin = `http://127.0.0.1:${server.address().port}/`;
const pages = readdirSync(site, { recursive: true }).filter((name) => /(?<!404)\.html$/.test(name)).sort();

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext({
  permissions: ["clipboard-read", "clipboard-write"],
  reducedMotion: "reduce",
  viewport: PHONE,
});
await context.route((url) => !url.href.startsWith(origin), (route) => {
  check(false, tab.url(), `loads ${route.request().url()}`);
  return route.abort();
});
const tab = await context.newPage();
tab.setDefaultTimeout(120_000);
tab.on("response", (answer) => check(answer.status() < 400, tab.url(), `lacks ${answer.url()}`));
tab.on("pageerror", (error) => check(false, tab.url(), error.message));

// What the test needs of a page, read in it.
const look = () => {
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const fits = (element) => element.getBoundingClientRect().right <= innerWidth + 1;
  const boxed = (element) =>
    element.localName !== "article" && ((scrolls(element) && fits(element)) || boxed(element.parentElement));
  const names = (element) => `${element.localName}.${element.className}`;
  return {
    title: document.querySelector("h1").firstChild.textContent,
    anchors: [...document.querySelectorAll("[id]")].map((element) => element.id),
    links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
    wide: [...document.querySelectorAll("article *")]
      .filter((element) => !fits(element) && !boxed(element))
      .map((element) => element.outerHTML.replace(/\s+/g, " ").slice(0, 80)),
    overflow: document.documentElement.scrollWidth - innerWidth,
    looks: [...document.querySelectorAll("body *")].map((element) => `${names(element.parentElement)} > ${names(element)}`),
  };
};

async function checkContrast(name) {
  for (const colorScheme of SCHEMES) {
    await tab.emulateMedia({ colorScheme });
    await tab.reload();
    await tab.evaluate(axe);
    const found = await tab.evaluate(() => axe.run({ runOnly: ["color-contrast"] }));
    const pale = found.violations.flatMap((rule) => rule.nodes);
    for (const [message, html] of new Map(pale.map(({ any, html }) => [any[0].message, html])))
      check(false, `${name}, ${colorScheme}`, `${message}: ${html.replace(/\s+/g, " ").slice(0, 100)}`);
    const lightness = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g)[0]);
    check(lightness > 128 === (colorScheme === "light"), name, `is not ${colorScheme} where the system is`);
  }
}

const found = new Map();
const looks = new Set(); // colours come from tags and classes: what has none but known ones is not read again
for (const name of pages) {
  await tab.goto(origin + name);
  const page = await tab.evaluate(look);
  found.set(origin + name, page);
  check(page.overflow <= 0, name, `is ${page.overflow} px too wide for ${PHONE.width}`);
  for (const element of page.wide) check(false, name, `scrolls in no box: ${element}`);
  if (page.looks.some((key) => !looks.has(key))) {
    await tab.setViewportSize(DESK);
    await checkContrast(name);
    await tab.setViewportSize(PHONE);
    page.looks.forEach((key) => looks.add(key));
  }
}

for (const [place, { links }] of found)
  for (const link of new Set(links.filter((link) => link.startsWith(origin)))) {
    const [target, anchor] = link.split("#");
    const page = found.get(target);
    const there = page ? !anchor || page.anchors.includes(decodeURIComponent(anchor)) : existsSync(join(site, target.slice(origin.length)));
    check(there, place, `leads nowhere: ${link}`);
  }
const home = found.get(`${origin}index.html`);
for (const page of found.keys()) check(home.links.includes(page), page, "is not in the navigation");

await tab.setViewportSize(DESK);
await tab.goto(`${origin}tour.html`);
const block = tab.locator(".highlight").first();
await block.hover();
await block.locator("button").click();
await tab.waitForFunction(() => navigator.clipboard.readText());
const copied = (await tab.evaluate(() => navigator.clipboard.readText())).split("\n");
check(copied.length > 1 && copied.every((line) => line.startsWith("lore ")), "tour.html", `is copied as ${copied}`);

for (const [page, { title }] of found) {
  await tab.fill("input.md-search__input", title);
  await tab.press("input.md-search__input", "End");
  const hit = tab.locator(`.md-search-result__link[href^="${page}"]`).first();
  await hit.waitFor({ state: "attached", timeout: 10_000 }).catch(() => check(false, page, `is not found by '${title}'`));
}

if (pictures)
  for (const name of PICTURED)
    for (const colorScheme of SCHEMES)
      for (const viewport of [PHONE, DESK]) {
        await tab.emulateMedia({ colorScheme });
        await tab.setViewportSize(viewport);
        await tab.goto(`${origin}${name}.html`);
        await tab.screenshot({ path: join(pictures, `${name.replace("/", "-")}-${colorScheme}-${viewport.width}.png`) });
      }

await browser.close();
server.close();
console.log(`${found.size} pages, ${faults.size} faults`);
process.exitCode = faults.size ? 1 : 0;
