import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { interpreted, runScript as shell } from "../../../test/userland/interpreted.ts";

const userland = (clock: VirtualClock) => interpreted(clock).userland;

async function writes(script: string, env: Record<string, string> = {}): Promise<string> {
  return (await shell(script, { env })).output;
}

test("quotes keep words together, and stop expansion where they should", async () => {
  assert.equal(await writes(`a='x  y'; echo $a; echo "$a"; echo '$a' "\\$a"`), "x y\nx  y\n$a $a\n");
});

test("variables have defaults, lengths and trimmed ends", async () => {
  const script = `f=/a/b.txt; echo \${none:-no} \${#f} \${f##*/} \${f%.txt} \${f:+yes}`;
  assert.equal(await writes(script), "no 8 b.txt /a/b yes\n");
});

test("a parameter that must be set ends the shell with what it says", async () => {
  const { output, status } = await shell(`echo "\${HOST_IP:?not there}"; echo after`);
  assert.match(output, /HOST_IP: not there/);
  assert.doesNotMatch(output, /after/);
  assert.equal(status, 2);
});

test("commands are substituted and numbers are computed", async () => {
  assert.equal(await writes("echo $(echo a; echo b) `echo c` $(( (1 + 2) * 3 % 4 ))"), "a b c 1\n");
});

test("pipes join commands that run side by side", async () => {
  assert.equal(await writes("printf 'b\\na\\nb\\n' | sort | uniq -c | awk '{print $2, $1}'"), "a 1\nb 2\n");
});

test("if, for, while and case decide and repeat", async () => {
  const script = `
i=0
while [ $i -lt 3 ]; do
  i=$((i+1))
  if [ $i -eq 2 ]; then continue; fi
  for x in a b; do echo $i$x; done
done
case "$i" in 1|2) echo few;; [3-9]) echo many;; *) echo none;; esac`;
  assert.equal(await writes(script), "1a\n1b\n3a\n3b\nmany\n");
});

test("functions have their own parameters and results", async () => {
  const { output, status } = await shell(`f() { echo "$#:$1"; return 3; }; f "a b" c; echo $?; f x || exit 7`);
  assert.equal(output, "2:a b\n3\n1:x\n");
  assert.equal(status, 7);
});

test("what is redirected lands in files, and is read from them", async () => {
  const script = `cd /tmp; echo one > f; echo two >> f; cat < f; ls no-such 2>/dev/null || echo failed; wc -l < f`;
  assert.equal(await writes(script), "one\ntwo\nfailed\n2\n");
});

test("a document in the script is a command's input", async () => {
  assert.equal(await writes(`x=1\ncat <<EOF\nvalue $x\nEOF\ncat <<'END'\nraw $x\nEND\n`), "value 1\nraw $x\n");
});

test("with -e the first failure ends the shell, but not one that is expected", async () => {
  const { output, status } = await shell("set -e; false || echo expected; if false; then :; fi; false; echo never");
  assert.equal(output, "expected\n");
  assert.equal(status, 1);
});

test("what runs in the background is waited for", async () => {
  assert.equal(await writes("(sleep 5; echo late) & echo early; wait; echo done"), "early\nlate\ndone\n");
});

test("a command that does not exist fails with a message and its exit code", async () => {
  const { output, status } = await shell("no-such-thing");
  assert.match(output, /no-such-thing: not found/);
  assert.equal(status, 127);
});

test("a syntax error is distinguished from a script that fails", async () => {
  const { output, status } = await shell("if true; then echo x");
  assert.match(output, /syntax error/);
  assert.equal(status, 2);
});

test("a process ends on SIGTERM, unless a trap handles it", async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  let output = "";
  const running = userland(clock).run(
    ["sh", "-c", "trap 'echo bye; exit 5' TERM; while true; do sleep 1; done"],
    {
      stdout: (text) => {
        output += text;
      },
    },
    { stop: stop.signal },
  );
  await clock.advance(3000);
  stop.abort();
  await clock.advance(3000);
  assert.equal(await running, 5);
  assert.equal(output, "bye\n");
});

test("a sleeping process that gets SIGTERM has not succeeded", async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const running = userland(clock).run(["sleep", "1000"], {}, { stop: stop.signal });
  await clock.advance(1000);
  stop.abort();
  assert.equal(await running, 143);
});

test("a loop that never ends does not keep a cluster from being idle", async () => {
  const clock = new VirtualClock();
  const kill = new AbortController();
  const running = userland(clock).run(["sh", "-c", "while true; do sleep 5; done"], {}, { kill: kill.signal });
  await clock.advance(20_000);
  assert.deepEqual(
    clock.pending().filter(({ background }) => !background),
    [],
  );
  kill.abort();
  assert.equal(await running, 137);
});

test("variables reach commands when they are exported, or set for one of them", async () => {
  assert.equal(await writes("A=1; export B=2; C=3 env | grep '^[ABC]='", {}), "B=2\nC=3\n");
});

test("patterns stand for the files that match, or for themselves", async () => {
  assert.equal(await writes("cd /tmp; touch a1 a2 b1; echo a*; echo 'a*' z*"), "a1 a2\na* z*\n");
});

test("a command that is called as something every object has is not found, and the script goes on", async () => {
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"])
    assert.equal(await writes(`${name} x; command -v ${name}; echo $?`), `sh: ${name}: not found\n127\n`);
});
