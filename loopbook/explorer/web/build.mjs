// Bundles the explorer: `npm run build` writes ../static, which the server serves and `loopbook
// report` fills in.
import { build } from "esbuild";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "static");
const watch = process.argv.includes("--readable");

const result = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx" },
  outdir: join(out, "assets"),
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: !watch,
  legalComments: "none", // whole licences go into licenses.txt
  charset: "utf8",
  metafile: true,
  write: false,
});

/** The licences of all packages that the bundle contains, which they ask to be handed on. */
function licences(inputs) {
  const packages = new Set();
  for (const path of Object.keys(inputs)) {
    const found = path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/);
    if (found) packages.add(found[1]);
  }
  const texts = [...packages].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${license}`;
    return `${name} ${version}\n\n${text}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

const files = Object.fromEntries(
  result.outputFiles.map((file) => [file.path.split("/").pop(), file.text]),
);
const script = files["app.js"];
const style = files["app.css"];
const notices = licences(result.metafile.inputs);
const icon = readFileSync(join(here, "src", "icon.svg"), "utf8");

const head = (links) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>loopbook</title>
${links}
</head>
`;
const noscript = "<noscript>This page is drawn by JavaScript: allow it, or read the .json twin of this address.</noscript>";

if (existsSync(out)) await rm(out, { recursive: true });
await mkdir(join(out, "assets"), { recursive: true });
await writeFile(join(out, "assets", "app.js"), script);
await writeFile(join(out, "assets", "app.css"), style);
await writeFile(join(out, "assets", "icon.svg"), icon);
await writeFile(join(out, "assets", "licenses.txt"), notices);
// The server puts the prefix that it is mounted under in place of "/" in <base>.
await writeFile(
  join(out, "index.html"),
  head(`<base href="/">
<link rel="icon" href="assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="assets/app.css">
<script type="module" src="assets/app.js"></script>`) +
    `<body>\n<div id="app"></div>\n${noscript}\n</body>\n</html>\n`,
);
// `loopbook report` puts the data in place of the comment.
await writeFile(
  join(out, "report.html"),
  head(`<link rel="icon" href="data:,">\n<style>\n${style}</style>`) +
    `<body>\n<div id="app"></div>\n${noscript}\n<!--loopbook-data-->\n<script type="module">\n${script}</script>\n` +
    `<!--\nThis file contains:\n\n${notices.replaceAll("--", "- -")}\n-->\n</body>\n</html>\n`,
);
