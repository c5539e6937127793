import assert from "node:assert/strict";
import { test } from "node:test";
import { drawFrames } from "./draw-frames.ts";
import { TerminalFrames } from "./terminal-frames.ts";

function recording(pause = 0) {
  let now = 0;
  const terminal = new TerminalFrames({ columns: 80, pause, now: () => now });
  const at = (time: number, text: string) => {
    now = time;
    terminal.write(text);
  };
  return { terminal, at };
}

test("lines that are drawn again replace what was there", () => {
  const { terminal, at } = recording();
  at(0, "hello\n");
  at(10, "\x1b[2K… one\n\x1b[2K… two\n");
  at(20, "\x1b[2A\x1b[2K✔ one\n\x1b[2K… two\n");
  assert.deepEqual(terminal.frames().at(-1), { at: 20, lines: ["hello", "✔ one", "… two", ""] });
  assert.equal(terminal.frames().length, 3);
});

test("frames that show the same, or follow at once, are one", () => {
  const { terminal, at } = recording(100);
  at(0, "a\n");
  at(50, "b\n");
  at(120, "\x1b[1A\x1b[2Kb\n");
  at(200, "c\n");
  assert.deepEqual(
    terminal.frames().map((frame) => [frame.at, frame.lines.join("")]),
    [
      [0, "ab"],
      [200, "abc"],
    ],
  );
});

test("cleared lines are not drawn, and neither are colors", () => {
  const { terminal, at } = recording();
  at(0, "\x1b[2K\x1b[32m✔\x1b[0m one\n\x1b[2Ktwo\n");
  at(10, "\x1b[2A\x1b[2Kone\n\x1b[0J");
  assert.deepEqual(
    terminal.frames().map(({ lines }) => lines),
    [
      ["✔ one", "two", ""],
      ["one", ""],
    ],
  );
});

test("a sequence it does not know is an error, not a wrong picture", () => {
  assert.throws(() => recording().at(0, "\x1b[5C"), /cannot show the terminal sequence/);
});

test("a drawing has every frame once, with text that is not markup", () => {
  const svg = drawFrames([
    { at: 0, lines: ["<b> & co"] },
    { at: 1500, lines: ["✔ done"] },
  ]);
  assert.equal(svg.match(/<g class="frame"/g)?.length, 2);
  assert.match(svg, /&lt;b&gt; &amp; co/);
});
