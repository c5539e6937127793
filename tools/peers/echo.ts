import type { Stage } from "./stage.ts";

/** Registers an image `echo` with the embedded cluster: it logs two lines, repeats its input and answers in capitals. */
export function echo({ cluster }: Stage): void {
  cluster!.image("echo", {
    async run({ write, stop }) {
      write("hello\nworld\n");
      await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
    },
    async exec({ command, stdin, stdout, stderr }) {
      stderr(command.join(" "));
      for await (const chunk of stdin) stdout(chunk);
      return 3;
    },
    async connect({ incoming, write }) {
      for await (const chunk of incoming) write(Buffer.from(chunk).toString("utf8").toUpperCase());
    },
  });
}
