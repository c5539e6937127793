import { posix } from "node:path";
import { sleep } from "@konverge/core";
import { FileError } from "../file-error.ts";
import { Pipe } from "../pipe.ts";
import { noInput, type Process, type Streams } from "../process.ts";
import { BUILTINS } from "./builtins.ts";
import { ExitShell, LeaveFunction, LeaveLoop } from "./control-flow.ts";
import { type ExpansionScope, expandPattern, expandText, expandWords } from "./expansion.ts";
import { parseScript } from "./parser.ts";
import { patternOf } from "./pattern.ts";
import { type Node, type Redirection, type Script, ShellSyntaxError } from "./syntax.ts";

/** A turn of a loop takes at least this long (milliseconds), so that no loop stops the world. */
const TURN = 1;

/**
 * A POSIX-like shell: it interprets scripts with the commands and the files of a simulated container. Pipes, lists,
 * compound commands, functions, expansions, redirections, traps and background jobs are there; job control is not.
 */
export class Shell implements ExpansionScope {
  readonly process: Process;
  readonly variables: Map<string, string>;
  readonly exported: Set<string>;
  readonly functions: Map<string, Node>;
  readonly options: Set<string>;
  readonly traps = new Map<string, string>();
  readonly jobs: Promise<number>[] = [];
  cwd: string;
  name: string;
  parameters: readonly string[];
  status = 0;
  /** Above 0 a failing command is expected: it does not end the shell. */
  #guards = 0;
  /** Above 0 it is in a loop that never ends by itself. */
  #endless: number;

  constructor(process: Process, name: string, parameters: readonly string[], parent?: Shell) {
    this.process = process;
    this.name = name;
    this.parameters = parameters;
    this.cwd = parent?.cwd ?? process.cwd;
    this.variables = new Map(parent?.variables ?? Object.entries(process.env));
    this.exported = new Set(parent?.exported ?? Object.keys(process.env));
    this.functions = new Map(parent?.functions);
    this.options = new Set(parent?.options);
    this.#endless = parent ? parent.#endless : process.endless ? 1 : 0;
    this.status = parent?.status ?? 0;
  }

  get files() {
    return this.process.files;
  }

  get strict(): boolean {
    return this.options.has("u");
  }

  get(name: string): string | undefined {
    if (name === "?") return String(this.status);
    if (name === "#") return String(this.parameters.length);
    if (name === "@" || name === "*") return this.parameters.join(" ");
    if (name === "$") return "1";
    if (name === "!") return String(this.jobs.length);
    if (name === "-") return [...this.options].filter((option) => option.length === 1).join("");
    if (name === "0") return this.name;
    if (/^\d+$/.test(name)) return this.parameters[Number(name) - 1];
    if (name === "PWD") return this.cwd;
    return this.variables.get(name);
  }

  set(name: string, value: string): void {
    this.variables.set(name, value);
    if (this.options.has("a")) this.exported.add(name);
  }

  /** What commands see of the variables. */
  get environment(): Record<string, string> {
    const env: Record<string, string> = { PWD: this.cwd };
    for (const name of this.exported) {
      const value = this.variables.get(name);
      if (value !== undefined) env[name] = value;
    }
    return env;
  }

  async capture(script: Script): Promise<string> {
    const chunks: Buffer[] = [];
    const stdout = (data: string | Uint8Array) => void chunks.push(Buffer.from(data as string));
    this.status = await this.#apart(script, { ...this.#streams(), stdout });
    return Buffer.concat(chunks).toString("utf8");
  }

  #streams(): Streams {
    const { stdin, stdout, stderr } = this.process;
    return {
      stdin,
      stdout: (data) => stdout.call(this.process, data),
      stderr: (data) => stderr.call(this.process, data),
    };
  }

  /** Runs a whole script to its exit code; tells what is wrong with one that is none. */
  async interpret(text: string): Promise<number> {
    const streams = this.#streams();
    try {
      await this.runScript(parseScript(text), streams);
    } catch (error) {
      if (error instanceof ExitShell) this.status = error.status;
      else if (error instanceof ShellSyntaxError) {
        streams.stderr(`${this.name}: ${error.message}\n`);
        this.status = 2;
      } else if (!(error instanceof LeaveFunction || error instanceof LeaveLoop)) throw error;
    }
    await this.#runTrap("EXIT", streams);
    return this.status;
  }

  async #runTrap(name: string, streams: Streams): Promise<void> {
    const script = this.traps.get(name);
    this.traps.delete(name);
    if (!script) return;
    const { status } = this;
    try {
      await this.runScript(parseScript(script), streams);
      this.status = status;
    } catch (error) {
      if (!(error instanceof ExitShell)) throw error;
      this.status = error.status;
    }
  }

  /** The container is told to end: its trap says what becomes of that. */
  terminated(): void {
    const script = this.traps.get("TERM");
    if (!script) return;
    this.runScript(parseScript(script), this.#streams()).catch((error: unknown) => {
      this.process.exit(error instanceof ExitShell ? error.status : 143);
    });
  }

  async runScript(script: Script, streams: Streams): Promise<number> {
    for (const node of script) await this.run(node, streams);
    return this.status;
  }

  async run(node: Node, streams: Streams): Promise<number> {
    this.process.signal.throwIfAborted();
    this.status = await this.#evaluate(node, streams);
    const mayEnd = node.kind === "simple" || node.kind === "pipeline" || node.kind === "subshell";
    if (this.status !== 0 && mayEnd && this.options.has("e") && this.#guards === 0) throw new ExitShell(this.status);
    return this.status;
  }

  async #evaluate(node: Node, streams: Streams): Promise<number> {
    switch (node.kind) {
      case "simple":
        return this.#simple(node, streams);
      case "pipeline":
        return this.#pipeline(node, streams);
      case "and":
      case "or": {
        const left = await this.#guarded(() => this.run(node.left, streams));
        return (left === 0) === (node.kind === "and") ? this.run(node.right, streams) : left;
      }
      case "background":
        this.jobs.push(this.#apart([node.body], { ...streams, stdin: noInput() }).catch(() => 143));
        return 0;
      case "function":
        this.functions.set(node.name, node.body);
        return 0;
      default:
        return this.#redirected(node.redirections, streams, (io) => this.#compound(node, io));
    }
  }

  async #compound(node: Extract<Node, { redirections: unknown }>, streams: Streams): Promise<number> {
    switch (node.kind) {
      case "group":
        return this.runScript(node.body, streams);
      case "subshell":
        return this.#apart(node.body, streams);
      case "if":
        for (const { condition, body } of node.branches) {
          const met = await this.#guarded(() => this.runScript(condition, streams));
          if (met === 0) return this.#body(body, streams);
        }
        return node.otherwise ? this.#body(node.otherwise, streams) : 0;
      case "loop":
        return this.#loop(node, streams);
      case "for":
        return this.#for(node, streams);
      case "case": {
        const subject = await expandText(this, node.subject);
        for (const { patterns, body } of node.choices)
          for (const pattern of patterns)
            if (patternOf(await expandPattern(this, pattern)).test(subject)) return this.#body(body, streams);
        return 0;
      }
      default:
        throw new ShellSyntaxError("syntax error");
    }
  }

  async #body(body: Script, streams: Streams): Promise<number> {
    this.status = 0;
    return this.runScript(body, streams);
  }

  async #loop(node: Extract<Node, { kind: "loop" }>, streams: Streams): Promise<number> {
    const endless = isEndless(node);
    if (endless) this.#endless++;
    let status = 0;
    try {
      for (;;) {
        const met = await this.#guarded(() => this.runScript(node.condition, streams));
        if ((met === 0) === node.until) return status;
        const goesOn = await this.#turn(() => this.runScript(node.body, streams));
        status = this.status;
        if (!goesOn) return status;
        await sleep(this.process.clock, TURN, this.#waiting("shell loop"));
      }
    } finally {
      if (endless) this.#endless--;
    }
  }

  async #for(node: Extract<Node, { kind: "for" }>, streams: Streams): Promise<number> {
    const values = node.words ? await expandWords(this, node.words) : this.parameters;
    let status = 0;
    for (const value of values) {
      this.set(node.name, value);
      const goesOn = await this.#turn(() => this.runScript(node.body, streams));
      status = this.status;
      if (!goesOn) break;
    }
    return status;
  }

  /** One turn of a loop: false when it was the last. */
  async #turn(body: () => Promise<unknown>): Promise<boolean> {
    try {
      await body();
      return true;
    } catch (error) {
      if (!(error instanceof LeaveLoop)) throw error;
      this.status = 0;
      if (error.levels > 1) throw new LeaveLoop(error.levels - 1, error.goesOn);
      return error.goesOn;
    }
  }

  async #guarded(work: () => Promise<number>): Promise<number> {
    this.#guards++;
    try {
      return await work();
    } finally {
      this.#guards--;
    }
  }

  async #pipeline({ commands, negated }: Extract<Node, { kind: "pipeline" }>, streams: Streams): Promise<number> {
    const run = () => (commands.length === 1 ? this.run(commands[0]!, streams) : this.#piped(commands, streams));
    const status = negated ? await this.#guarded(run) : await run();
    return negated ? Number(status === 0) : status;
  }

  async #piped(commands: readonly Node[], streams: Streams): Promise<number> {
    const pipes = commands.slice(1).map(() => new Pipe());
    const statuses = await Promise.all(
      commands.map(async (command, index) => {
        const [before, after] = [pipes[index - 1], pipes[index]];
        const io: Streams = {
          stdin: before?.read() ?? streams.stdin,
          stdout: after ? (data) => void after.write(data) : streams.stdout,
          stderr: streams.stderr,
        };
        try {
          return await this.#apart([command], io);
        } finally {
          after?.end();
          before?.leave();
        }
      }),
    );
    const failed = this.options.has("pipefail") ? statuses.findLast((status) => status !== 0) : undefined;
    return failed ?? statuses.at(-1) ?? 0;
  }

  /** Runs a script in a shell of its own: what it sets is gone afterwards. */
  async #apart(script: Script, streams: Streams): Promise<number> {
    const inner = new Shell(this.process, this.name, this.parameters, this);
    try {
      return await inner.runScript(script, streams);
    } catch (error) {
      if (error instanceof ExitShell) return error.status;
      if (!(error instanceof ShellSyntaxError)) throw error;
      streams.stderr(`${this.name}: ${error.message}\n`);
      return 2;
    }
  }

  async #simple(node: Extract<Node, { kind: "simple" }>, streams: Streams): Promise<number> {
    this.status = this.status || 0;
    const argv = await expandWords(this, node.words);
    const assigned: [string, string][] = [];
    for (const { name, value } of node.assignments) assigned.push([name, await expandText(this, value)]);
    if (argv.length === 0) {
      for (const [name, value] of assigned) this.set(name, value);
      const hasCommand = node.assignments.some(({ value }) => value.some(({ kind }) => kind === "command"));
      const { status } = this;
      return this.#redirected(node.redirections, streams, async () => (hasCommand ? status : 0));
    }
    if (this.options.has("x")) streams.stderr(`+ ${argv.join(" ")}\n`);
    return this.#redirected(node.redirections, streams, (io) => this.#command(argv, assigned, io));
  }

  async #command(argv: readonly string[], assigned: readonly [string, string][], io: Streams): Promise<number> {
    const [name = ""] = argv;
    const known = this.functions.get(name);
    if (known) return this.#call(known, argv.slice(1), io);
    const builtin = BUILTINS[name];
    if (builtin) {
      for (const [variable, value] of assigned) this.set(variable, value);
      return builtin(this, argv, io);
    }
    const env = { ...this.environment, ...Object.fromEntries(assigned) };
    return this.process.run(argv, { ...io, env, cwd: this.cwd, endless: this.#endless > 0 });
  }

  async #call(body: Node, parameters: readonly string[], io: Streams): Promise<number> {
    const before = this.parameters;
    this.parameters = parameters;
    try {
      return await this.run(body, io);
    } catch (error) {
      if (error instanceof LeaveFunction) return error.status;
      throw error;
    } finally {
      this.parameters = before;
    }
  }

  /** Runs with some of its streams led elsewhere. */
  async #redirected(
    redirections: readonly Redirection[],
    streams: Streams,
    work: (streams: Streams) => Promise<number>,
  ): Promise<number> {
    let io = streams;
    try {
      for (const redirection of redirections) io = await this.#redirect(redirection, io);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      streams.stderr(`${this.name}: can't create ${error.path}: ${error.message}\n`);
      return 1;
    }
    return work(io);
  }

  async #redirect({ descriptor, operator, target }: Redirection, io: Streams): Promise<Streams> {
    const text = await expandText(this, target);
    if (operator === "<<" || operator === "<<<") {
      const content = Buffer.from(operator === "<<" ? text : `${text}\n`);
      return { ...io, stdin: once(content) };
    }
    if (operator === "<") return { ...io, stdin: once(this.files.read(posix.resolve(this.cwd, text))) };
    if (operator === "<&") return io;
    const sink = operator === ">&" && /^[12-]$/.test(text) ? streamOf(io, text) : this.#fileSink(text, operator, io);
    if (operator === "&>" || (operator === ">&" && !/^[12-]$/.test(text))) return { ...io, stdout: sink, stderr: sink };
    return descriptor === 2 ? { ...io, stderr: sink } : { ...io, stdout: sink };
  }

  #fileSink(name: string, operator: string, io: Streams): Streams["stdout"] {
    const path = posix.resolve(this.cwd, name);
    if (path === "/dev/stdout" || path === "/proc/self/fd/1") return io.stdout;
    if (path === "/dev/stderr" || path === "/proc/self/fd/2") return io.stderr;
    if (path === "/proc/1/fd/1" || path === "/proc/1/fd/2") return (data) => this.process.log(data);
    this.files.write(path, "", { append: operator === ">>" });
    return (data) => this.files.write(path, data as string, { append: true });
  }

  #waiting(label: string) {
    return { signal: this.process.signal, background: this.#endless > 0, label: `${label}: ${this.process.label}` };
  }
}

function streamOf({ stdout, stderr }: Streams, name: string): Streams["stdout"] {
  return name === "1" ? stdout : name === "2" ? stderr : () => {};
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield content;
}

/** `while true`, `while :`, `until false`. */
function isEndless({ condition, until }: Extract<Node, { kind: "loop" }>): boolean {
  const [only, ...more] = condition;
  if (more.length > 0 || only?.kind !== "simple" || only.words.length !== 1) return false;
  const [part] = only.words[0] ?? [];
  if (part?.kind !== "text") return false;
  return until ? part.text === "false" : part.text === "true" || part.text === ":" || part.text === "1";
}
