/** What the tests read of a console's first message. */
export interface SeenHello {
  readonly title: string;
  readonly controls?: {
    readonly time: { readonly now: number; readonly speed: number } | { readonly unavailable: string };
    readonly requestDelay: number;
    readonly snapshots: readonly { readonly id: number }[];
    readonly forks: readonly { readonly id: number; readonly url: string }[];
  };
}

/** A console as its page uses it: entered by the link that a command printed. */
export class ConsoleVisit {
  readonly #link: string;
  readonly #cookie: string;

  private constructor(link: string, cookie: string) {
    this.#link = link;
    this.#cookie = cookie;
  }

  static async open(link: string): Promise<ConsoleVisit> {
    const entered = await fetch(link, { redirect: "manual" });
    return new ConsoleVisit(link, entered.headers.get("set-cookie")!.split(";")[0]!);
  }

  /** What the page receives first. */
  async hello(): Promise<SeenHello> {
    const leave = new AbortController();
    const headers = { cookie: this.#cookie };
    const { body } = await fetch(new URL("/console/stream", this.#link), { headers, signal: leave.signal });
    let text = "";
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("\n\n")) break;
    }
    leave.abort();
    return (JSON.parse(text.slice("data: ".length, text.indexOf("\n\n"))) as { hello: SeenHello }).hello;
  }

  /** Sends a request to the controls. Returns the status code, and the message if it was refused. */
  async control(request: object): Promise<{ status: number; message?: string }> {
    const [method, body, headers] = ["POST", JSON.stringify(request), { cookie: this.#cookie }];
    const answer = await fetch(new URL("/console/controls", this.#link), { method, body, headers });
    return { status: answer.status, ...((await answer.json()) as { message?: string }) };
  }
}
