// `npm run pictures`: screenshots of each view of the console, for its guide: light, dark and narrow. Arguments name some of them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startConsole } from "@konverge/console";
import { TestBrowser } from "@konverge/console/chromium";
import { type ConsoleScenes, startScenes } from "./console-scenes.ts";

const FOLDER = "docs/guide/console";
const WIDE = { width: 1200, height: 750 };
const NARROW = { width: 390, height: 780 };
const QUALITY = 40;

/** One view: how the page gets there, and what a small screen is scrolled to. */
interface Picture {
  readonly name: string;
  readonly view: string | ((scenes: ConsoleScenes) => string);
  /** Default: the console of the cluster. */
  readonly console?: "recording" | "exploration" | "results";
  readonly prepare?: (browser: TestBrowser, scenes: ConsoleScenes) => Promise<void>;
  readonly narrow?: string;
}

const object = (key: keyof ConsoleScenes["ids"], tab?: string) => (scenes: ConsoleScenes) =>
  `/object?id=${scenes.ids[key]}${tab ? `&tab=${tab}` : ""}`;

const PICTURES: readonly Picture[] = [
  { name: "resources", view: "/resources", prepare: (browser) => browser.sees(".objects td", /./) },
  {
    name: "tree",
    view: object("database"),
    prepare: (browser) => browser.sees("[data-action]", /Reconcile now/),
  },
  {
    name: "missing",
    view: object("limited"),
    prepare: (browser) => browser.sees(".ghost", /quota/),
  },
  {
    name: "yaml",
    view: object("database", "yaml"),
    prepare: async (browser) => {
      await browser.page.waitForSelector(".yaml .toolbar input");
      await browser.page.click(".yaml .toolbar input");
      await browser.sees(".yaml .owner", /./);
    },
    narrow: "[role=tab][aria-selected=true]",
  },
  {
    name: "logs",
    view: object("operator", "logs"),
    prepare: (browser) => browser.sees(".log pre", /reconcile/),
    narrow: "[role=tab][aria-selected=true]",
  },
  {
    name: "exec",
    view: object("web", "exec"),
    prepare: async (browser) => {
      await browser.page.waitForSelector(".exec input");
      await browser.page.type(".exec input", "echo $KUBERNETES_SERVICE_HOST; ls /missing");
      await browser.page.keyboard.press("Enter");
      await browser.sees(".runs pre", /exit code/);
    },
    narrow: "[role=tab][aria-selected=true]",
  },
  {
    name: "ports",
    view: object("web", "ports"),
    prepare: async (browser) => {
      await browser.click(".ports button", /Open port/);
      await browser.sees(".ports li", /is open at/);
    },
    narrow: "[role=tab][aria-selected=true]",
  },
  {
    name: "timeline-object",
    view: ({ ids }) => `/timeline?object=${ids.database}`,
    prepare: (browser) => browser.click(".entry button", /reconcile[\s\S]*writes/),
  },
  {
    name: "recording",
    console: "recording",
    view: "/timeline?controller=copies",
    prepare: (browser) => browser.click(".entry button", /apply ConfigMap/),
  },
  {
    name: "exploration",
    console: "exploration",
    view: "/timeline",
    prepare: (browser) => browser.click(".finding button", /Go to the fault/),
  },
  {
    name: "edit",
    view: object("database"),
    prepare: async (browser) => {
      await browser.click("[data-action=edit]", /Edit/);
      await browser.page.waitForSelector("dialog textarea");
      await browser.page.evaluate(() => {
        const area = document.querySelector("dialog textarea");
        area.value = area.value.replace("synchronous: 2", "synchronous: 3");
        area.dispatchEvent(new Event("input", { bubbles: true }));
      });
      await browser.click("dialog button", /Check/);
      await browser.sees(".refusal", /synchronous/);
    },
  },
  {
    name: "timeline-operator",
    view: "/timeline?search=database-operator",
    prepare: async (browser, { ids }) => {
      await browser.go(`/object?id=${ids.operator}`);
      await browser.click("[data-action=kill]", /Kill/);
      await browser.click("dialog button.primary", /Kill/);
      await browser.go("/timeline?search=database-operator");
      await browser.sees(".entry", /console kills/);
      // Once before, and again after it was killed.
      while ((await browser.texts(".entry")).filter((text) => /at work/.test(text)).length < 2)
        await new Promise((resolve) => setTimeout(resolve, 200));
    },
  },
  {
    name: "results",
    console: "results",
    view: "/results?file=operator.md",
    prepare: (browser) => browser.sees(".bars", /controller-runtime/),
    narrow: "h1",
  },
  { name: "plots", view: "/plots", prepare: (browser) => browser.sees(".plot .u-legend", /database-operator/) },
  { name: "overview", view: "/overview", prepare: (browser) => browser.sees(".controllers tr", /databases/) },
  {
    name: "controls",
    view: "/controls",
    prepare: async (browser) => {
      await browser.click(".speeds button", /^10×/);
      await browser.click(".controls button", /Take snapshot/);
      await browser.click(".snapshots button", /^Fork$/);
      await browser.sees(".forks li", /Fork/);
      await browser.click(".speeds button", /^1×/);
      await browser.sees(".speeds button[aria-pressed=true]", /^1×/);
    },
  },
];

const named = process.argv.slice(2);
const chosen = PICTURES.filter(({ name }) => named.length === 0 || named.includes(name));
const folder = mkdtempSync(join(tmpdir(), "konverge-pictures-"));
try {
  await using scenes = await startScenes(folder);
  const { recording, exploration } = scenes;
  await using recorded = await startConsole({ recording, title: "reconciles.jsonl" });
  await using explored = await startConsole({ exploration, title: "exploration.json" });
  await using benchmarks = await startConsole({ results: ["bench/results"], title: "results" });
  const urls = {
    cluster: scenes.console.url,
    recording: recorded.url,
    exploration: explored.url,
    results: benchmarks.url,
  };
  for (const picture of chosen) {
    await using browser = await TestBrowser.open(urls[picture.console ?? "cluster"], WIDE);
    await browser.go(typeof picture.view === "string" ? picture.view : picture.view(scenes));
    try {
      await picture.prepare?.(browser, scenes);
      await take(browser, picture);
    } catch (error) {
      browser.problems.push(`${error}; the page shows: ${await browser.texts("main")}`);
    }
    for (const problem of browser.problems) console.error(`${picture.name}: ${problem}`);
    if (browser.problems.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function take({ page }: TestBrowser, { name, narrow }: Picture): Promise<void> {
  for (const [suffix, theme, size] of [
    ["", "light", WIDE],
    ["-dark", "dark", WIDE],
    ["-phone", "light", NARROW],
  ] as const) {
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: theme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ]);
    await page.setViewport(size);
    if (suffix === "-phone" && narrow) await page.$eval(narrow, (one) => one.scrollIntoView({ inline: "nearest" }));
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const picture = await page.screenshot({ type: "webp", quality: QUALITY });
    writeFileSync(join(FOLDER, `${name}${suffix}.webp`), picture);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    if (wide) console.error(`${name}${suffix}: the page is wider than the screen`);
  }
  console.log(name);
}

/** Code in `evaluate` runs in the page. */
declare const document: {
  documentElement: { scrollWidth: number; clientWidth: number };
  querySelector(css: string): { value: string; dispatchEvent(event: Event): void };
};
declare function requestAnimationFrame(then: (time: unknown) => void): void;
