import assert from "node:assert/strict";
import { test } from "node:test";
import { realClock, VirtualClock } from "@konverge/core";
import { Machine } from "../../src/userland/limits/machine.ts";
import type { Process } from "../../src/userland/process.ts";
import { interpreted, runScript } from "./interpreted.ts";

const MEBIBYTE = 1024 * 1024;

/** Scripts that would take all the memory there is. */
const GREEDY: Record<string, string> = {
  "a variable that doubles": "x=a; while :; do x=$x$x; done",
  "one word of many variables": `x=$(seq 1 10000); : "${"$x".repeat(200)}"`,
  "endless output of a command": "x=$(yes)",
  "endless output of a shell": "y=$(seq 1 1000); x=$(while :; do echo $y; done)",
  "an endless line": "cat /dev/zero | grep x",
  "an endless line of input": "read line < /dev/zero",
  "countless variables": 'i=0; while :; do i=$((i+1)); eval "v$i=0123456789"; done',
  "countless functions": 'i=0; while :; do i=$((i+1)); eval "f$i() { :; }"; done',
  "countless processes": "while :; do sleep 1000 & done",
  "a fork bomb": "f() { f | f & }; f; sleep 1000",
  "all lines to sort": "yes 0123456789 | sort",
  "all lines to keep": "yes 0123456789 | tail -n 1000000000",
  "a wide number": "printf '%1000000000d' 1",
  "countless words": "set -- $(seq 1 10000000)",
  "a glob over circular links": "for i in $(seq 1 50); do ln -s / /$i; done; echo /*/*/*/*",
  "a replacement that grows": `echo x | sed '${`s/x/${"x".repeat(4000)}/g;`.repeat(2)}p'`,
};

for (const [what, script] of Object.entries(GREEDY)) {
  test(`${what}: only that container is OOMKilled`, async () => {
    const clock = new VirtualClock();
    const machine = new Machine(clock);
    const other = interpreted(clock, { machine });
    const greedy = interpreted(clock, { machine, memory: 2 * MEBIBYTE });
    const { status } = await runScript(script, { container: greedy, clock });
    assert.equal(status, 137);
    assert.ok(greedy.limits.memory.isKilled);
    assert.equal(greedy.limits.memory.used, 0);
    const { output } = await runScript("echo fine", { container: other, clock });
    assert.equal(output, "fine\n");
  });
}

test("containers without a limit share the pool: when it is used up, the largest is killed", async () => {
  const clock = new VirtualClock();
  const machine = new Machine(clock);
  const small = interpreted(clock, { machine });
  const large = interpreted(clock, { machine });
  const running = small.userland.run(["sh", "-c", "x=$(seq 1 100000); sleep 100000; echo $x | wc -w"]);
  const script = 'x=$(seq 1 1000000); for i in $(seq 1 100); do eval "v$i=\\$x"; done';
  const { status } = await runScript(script, { container: large, clock });
  assert.equal(status, 137);
  assert.ok(large.limits.memory.isKilled);
  assert.ok(!small.limits.memory.isKilled);
  await clock.advance(100_000_000);
  assert.equal(await running, 0);
});

test("what a subshell or a function unsets still counts for its parent", async () => {
  const clock = new VirtualClock();
  const many = "x=$(seq 1 100000); for i in $(seq 1 50); do (unset x; y=$(seq 1 100000); sleep 1000) & done; wait";
  assert.equal((await runScript(many, { memory: 16 * MEBIBYTE })).status, 137);
  const { userland, limits } = interpreted(clock);
  const calls = "x=$(seq 1 10000); f() { set -- a; }; for i in $(seq 1 50); do f $x; done; sleep 1000";
  const running = userland.run(["sh", "-c", calls]);
  await clock.advance(100_000);
  assert.ok(limits.memory.used > 150_000 && limits.memory.used < 300_000, `${limits.memory.used} bytes`);
  await clock.advance(1_000_000);
  assert.equal(await running, 0);
  assert.equal(limits.memory.used, 0);
});

/** Scripts that would take the process down, and what they end with instead. */
const REFUSED: [script: string, status: number, output: RegExp][] = [
  ["f() { f; }; f", 2, /Maximum function recursion depth \(1000\) reached/],
  ["f() ( f ); f", 2, /Maximum function recursion depth \(1000\) reached/],
  ["printf '/f\\n' > /f; chmod +x /f; /f", 2, /can't fork: Resource temporarily unavailable/],
  [`${"(".repeat(100_000)}`, 2, /nested too deeply/],
  [`echo ${"$(".repeat(50_000)}`, 2, /nested too deeply/],
  [`echo ${'"${a:-'.repeat(20_000)}`, 2, /nested too deeply/],
  [`echo $((${"(".repeat(50_000)}))`, 2, /expression recursion level exceeded|syntax error/],
  [`echo $((${"1?".repeat(20_000)}1))`, 2, /expression recursion level exceeded/],
  [`${": && ".repeat(10_000)} exit 3`, 3, /^$/],
  [`[ ${"! ".repeat(10_000)} x ]`, 2, /too many arguments/],
  ['x=$(seq 1 30000); ls "$x"', 126, /Argument list too long/],
  ["seq 1 0 5", 1, /Zero increment/],
  ["timeout never true", 125, /invalid time interval/],
  [`mkdir ${"a".repeat(300)}`, 1, /File name too long/],
  ["mkdir a; mv a a/b", 1, /Invalid argument/],
];

for (const [script, expected, words] of REFUSED) {
  test(`${script.slice(0, 40)} is refused`, async () => {
    const { output, status } = await runScript(script);
    assert.match(output, words);
    assert.equal(status, expected);
  });
}

test("endless files run out of space", async () => {
  const clock = new VirtualClock();
  const container = interpreted(clock);
  const script =
    "cat /dev/zero > /tmp/a; echo $?; dd if=/dev/zero of=/tmp/b bs=1M; yes >> /tmp/c; rm /tmp/*; echo x > /tmp/d && cat /tmp/d";
  const { output } = await runScript(script, { container, clock });
  assert.match(
    output,
    /^cat: write error: No space left on device\n1\ndd: error writing '\/tmp\/b': No space left on device/,
  );
  assert.match(output, /yes: write error: No space left on device\nx\n$/);
  assert.equal(container.layer.bytes, 2);
});

test("so do countless files", async () => {
  const { output } = await runScript("cd /tmp; seq 1 17000 | xargs touch 2>/dev/null; ls | wc -l");
  assert.equal(output, "16384\n");
});

test("a reader that exits early ends an endless writer", async () => {
  const script =
    "yes | head -c 100000 | wc -c; while :; do echo y; done | head -n 2; seq 1 1000000000 | grep -q 5; echo $?";
  assert.equal((await runScript(script)).output, "100000\ny\ny\n0\n");
});

test("data that streams through pipes is not held in memory", async () => {
  const script = "head -c 10M /dev/zero | wc -c; echo $(yes | head -n 10000 | uniq -c)";
  const { output, status } = await runScript(script, { memory: MEBIBYTE });
  assert.equal(output, "10485760\n10000 y\n");
  assert.equal(status, 0);
});

test("a huge sleep waits", async () => {
  const clock = new VirtualClock();
  const { userland } = interpreted(clock);
  const kill = new AbortController();
  const running = userland.run(["sleep", "99999999999999999999d"], {}, { kill: kill.signal });
  await clock.advance(1e12);
  kill.abort();
  assert.equal(await running, 137);
});

test("all processes of a container are killed with it", async () => {
  const clock = new VirtualClock();
  const container = interpreted(clock);
  const executed = container.userland.run(["sleep", "infinity"]);
  container.limits.memory.kill();
  assert.equal(await executed, 137);
});

test("work that nothing awaits may be killed", async () => {
  const clock = new VirtualClock();
  const { cpu } = interpreted(clock).limits;
  const kill = new AbortController();
  void cpu.spend(100_000, { signal: kill.signal, background: false, label: "p" });
  kill.abort();
  await clock.advance(1000);
  assert.deepEqual(clock.pending(), []);
});

test("a command that writes from a callback ends with its reader", async () => {
  const clock = new VirtualClock();
  const talk = ({ clock: time, stdout, signal }: Process) => {
    const again = () => {
      stdout("more\n");
      if (!signal.aborted) time.after(1000, again);
    };
    again();
    return new Promise<number>(() => {});
  };
  const container = interpreted(clock, { commands: { talk } });
  const { output } = await runScript("talk | head -n 2; echo ended", { container, clock });
  assert.equal(output, "more\nmore\nended\n");
});

test("a busy container is throttled, and its CPU usage is measured", async () => {
  const clock = new VirtualClock();
  const container = interpreted(clock);
  const kill = new AbortController();
  let steps = 0;
  const { cpu } = container.limits;
  const spend = cpu.spend.bind(cpu);
  cpu.spend = (count, worker) => {
    steps += count;
    return spend(count, worker);
  };
  const running = container.userland.run(["sh", "-c", "while true; do :; done"], {}, { kill: kill.signal });
  await clock.advance(60_000);
  assert.ok(steps > 150_000 && steps < 300_000, `${steps} steps in a minute`);
  assert.ok(Math.abs(cpu.usage - 1) < 0.05, `${cpu.usage} CPUs`);
  cpu.limit = 0.1;
  await clock.advance(60_000);
  assert.ok(Math.abs(cpu.usage - 0.1) < 0.05, `${cpu.usage} CPUs`);
  kill.abort();
  assert.equal(await running, 137);
  await clock.advance(600_000);
  assert.ok(cpu.usage < 0.01);
});

test("two busy processes share the CPU time of their container", async () => {
  const script = `
while true; do echo a; done > /tmp/a &
while true; do echo b; done > /tmp/b &
sleep 0.1; wc -l < /tmp/a; wc -l < /tmp/b; exit 0`;
  const [a = 0, b = 0] = (await runScript(script)).output.trim().split("\n").map(Number);
  assert.ok(a > 100 && b > 100 && Math.abs(a - b) < Math.max(a, b) / 4, `${a} and ${b}`);
});

test("the same script takes the same virtual time", async () => {
  const script =
    "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; date +%s%N; cat /dev/urandom | tr -dc a-z | head -c 8";
  const [first, second] = [await runScript(script), await runScript(script)];
  assert.equal(first.output, second.output);
});

/** Scripts that have no end, in which nothing ever waits. */
const BUSY = [
  "while true; do :; done",
  "for i in $(seq 1 100000000); do :; done",
  "until false; do x=$((x+1)); done",
  "f() { [ $1 -gt 900 ] || f $(($1+1)); }; while :; do f 0; done",
  "yes | while read x; do :; done",
  "yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | grep -E '(a+)+b'",
  "find / -name '*a*b*c*d*'; while find / > /dev/null; do :; done",
  "cat /dev/zero > /dev/null",
  "seq 1 1000000000000 > /dev/null",
  "while :; do sort /etc/passwd > /dev/null; done",
];

test("the event loop turns while containers are busy, and all of them make progress", async () => {
  const machine = new Machine(realClock());
  const kill = new AbortController();
  const spent = BUSY.map(() => 0);
  const running = BUSY.map((script, index) => {
    const { userland, limits } = interpreted(realClock(), { machine });
    const spend = limits.cpu.spend.bind(limits.cpu);
    limits.cpu.spend = (count, worker) => {
      spent[index]! += count;
      return spend(count, worker);
    };
    return userland.run(["sh", "-c", script], {}, { kill: kill.signal });
  });
  const total = () => spent.reduce((sum, steps) => sum + steps, 0);
  let most = 0;
  while (spent.some((steps) => steps < 5_000)) {
    const before = total();
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, total() - before);
  }
  kill.abort();
  assert.deepEqual(
    await Promise.all(running),
    BUSY.map(() => 137),
  );
  // A slice is 500 steps; what crosses its end may be one large step.
  assert.ok(most < 2_000, `${most} steps in one turn`);
});
