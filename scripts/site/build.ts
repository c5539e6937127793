// `npm run docs:site`: builds the documentation site into dist/site. The order of its pages is in docs/README.md.
//
//   --check          also checks the types of its configuration, and each link and anchor of the built pages
//   --serve          serves it instead, for writing: pages follow the files they are made from
//   --preview        serves what was built last, as it was built
//   --base /path/    the path that it will be served from. Default: /
import { spawn } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkBuiltLinks } from "./built-links.ts";
import { themeNavigation } from "./sidebar.ts";
import { stageSite } from "./stage.ts";

const GENERATOR = "docs/site";
/** What VitePress reads, below its own packages so that it finds them; the configuration names the same folders. */
const STAGED = `${GENERATOR}/dist`;
const BUILT = "dist/site";
const WATCHED = [".", "docs", GENERATOR];
const WATCHED_WITH_FOLDERS = ["docs/decisions", "docs/guide", "docs/reference", "examples", "operators", "bench"];

const { values: options } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    serve: { type: "boolean", default: false },
    preview: { type: "boolean", default: false },
    base: { type: "string", default: "/" },
  },
});
const base = `/${options.base}/`.replaceAll(/\/+/g, "/");
if (options.preview) process.exitCode = await vitepress("preview");
else process.exitCode = options.serve ? await serve() : await build();

async function build(): Promise<number> {
  if (stage().length > 0) return 1;
  if (options.check && (await run("tsc", "--noEmit", "-p", GENERATOR)) !== 0) return 1;
  const failed = await vitepress("build");
  if (!failed) console.log(`\n${whereItIs(base)}`);
  if (failed || !options.check) return failed;
  const files = globSync("**/*.html", { cwd: BUILT });
  const others = new Set(globSync("**/*", { cwd: BUILT }));
  const pages = new Map(files.map((file) => [file, readFileSync(join(BUILT, file), "utf8")]));
  const { links, problems } = checkBuiltLinks(pages, (path) => others.has(path), base);
  for (const problem of problems) console.log(`✖ ${problem}`);
  const bad = new Set(problems.map((problem) => problem.slice(0, problem.indexOf(": ")))).size;
  console.log(`\n${links} links in ${files.length} pages of the site\n${files.length - bad} passed, ${bad} failed`);
  return bad === 0 ? 0 : 1;
}

/** Pages load their scripts by paths from the base, so a browser does not show them as files. */
function whereItIs(path: string): string {
  const server = path === "/" ? ", or any web server on that folder: python3 -m http.server --directory dist/site" : "";
  return `The site is in ${resolve(BUILT)}, for any web server, at ${path}
To see it: npm run docs:site -- --preview${server}`;
}

async function serve(): Promise<number> {
  stage();
  let pending: NodeJS.Timeout | undefined;
  const again = () => {
    clearTimeout(pending);
    pending = setTimeout(stage, 100);
  };
  const watchers = [
    ...WATCHED.map((folder) => watch(folder, again)),
    ...WATCHED_WITH_FOLDERS.map((folder) => watch(folder, { recursive: true }, again)),
  ];
  const code = await vitepress("dev");
  for (const watcher of watchers) watcher.close();
  return code;
}

/** Writes what has changed since the last time, and returns what has to be repaired. */
function stage(): readonly string[] {
  const site = stageSite(process.cwd());
  const { theme, problems } = themeNavigation(site.sections);
  const files = new Map<string, string | Buffer>(site.pages);
  for (const picture of site.pictures) files.set(`public/${picture}`, readFileSync(picture));
  for (const name of readdirSync(`${GENERATOR}/public`)) {
    files.set(`public/${name}`, readFileSync(`${GENERATOR}/public/${name}`));
  }
  const pages = join(STAGED, "pages");
  mkdirSync(pages, { recursive: true });
  for (const entry of readdirSync(pages, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !files.has(relative(pages, file))) rmSync(file);
  }
  for (const [file, content] of files) writeIfChanged(join(pages, file), Buffer.from(content));
  writeIfChanged(join(STAGED, "theme.json"), Buffer.from(JSON.stringify({ base, ...theme }, undefined, 2)));
  for (const problem of [...site.problems, ...problems]) console.error(`✖ ${problem}`);
  return [...site.problems, ...problems];
}

function writeIfChanged(file: string, content: Buffer): void {
  try {
    if (readFileSync(file).equals(content)) return;
  } catch {
    mkdirSync(dirname(file), { recursive: true });
  }
  writeFileSync(file, content);
}

function vitepress(command: "build" | "dev" | "preview"): Promise<number> {
  return run(process.execPath, resolve(GENERATOR, "node_modules/vitepress/bin/vitepress.js"), command, GENERATOR);
}

function run(command: string, ...args: string[]): Promise<number> {
  return new Promise((done) => {
    const child = spawn(command, args, { stdio: "inherit", shell: process.platform === "win32" });
    // A terminal sends Ctrl-C to both processes; the child ends, and this one after it.
    process.on("SIGINT", () => {});
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    child.on("exit", (code) => done(code ?? 1));
  });
}
