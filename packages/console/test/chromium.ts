import { existsSync } from "node:fs";
import { type Browser, launch, type Page } from "puppeteer-core";

/** Where distributions install it; $CHROMIUM names another. */
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const program = process.env["CHROMIUM"] ?? PLACES.find((path) => existsSync(path));

/** The reason to skip tests that drive a browser; false if there is one. */
export const noChromium: string | false = program ? false : "Chromium is not installed: apt-get install chromium";

/** A browser with one page, which fails the test when a script of the page throws or the policy stops something. */
export class TestBrowser implements AsyncDisposable {
  readonly page: Page;
  readonly problems: string[] = [];
  readonly #browser: Browser;

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.page = page;
    page.on("pageerror", (error) => this.problems.push(String(error)));
    page.on("console", (message) => {
      // What the API server refuses is logged by the browser as well.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        this.problems.push(message.text());
    });
  }

  static async open(url: string, size = { width: 1400, height: 900 }): Promise<TestBrowser> {
    // Containers have no user namespaces for the browser's own sandbox. It opens nothing but this page.
    const browser = await launch({ executablePath: program!, args: ["--no-sandbox"], headless: true });
    const page = await browser.newPage();
    await page.setViewport(size);
    page.setDefaultTimeout(60_000);
    const opened = new TestBrowser(browser, page);
    await page.goto(url);
    await page.waitForSelector("main");
    return opened;
  }

  /** Leads the page to one of its views. */
  async go(hash: string): Promise<void> {
    await this.page.evaluate((to) => {
      (globalThis as unknown as { location: { hash: string } }).location.hash = to;
    }, hash);
  }

  /** Resolves when an element that matches has this text in it. */
  async sees(selector: string, text: RegExp): Promise<void> {
    await this.page.waitForFunction(
      (css, source) =>
        [...document.querySelectorAll(css)].some((one) => new RegExp(source).test((one as HTMLElement).innerText)),
      {},
      selector,
      text.source,
    );
  }

  /** Clicks the first element that matches and has this text in it. */
  async click(selector: string, text: RegExp): Promise<void> {
    await this.sees(selector, text);
    await this.page.evaluate(
      (css, source) => {
        const found = [...document.querySelectorAll<HTMLElement>(css)];
        found.find((one) => new RegExp(source).test(one.innerText))?.click();
      },
      selector,
      text.source,
    );
  }

  async texts(selector: string): Promise<string[]> {
    return this.page.$$eval(selector, (list) => list.map((one) => (one as HTMLElement).innerText));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

/** The little of a browser's types that tests name: their code runs there. */
declare const document: {
  querySelectorAll<T = unknown>(css: string): Iterable<T>;
};
interface HTMLElement {
  innerText: string;
  click(): void;
}
