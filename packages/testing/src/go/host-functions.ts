import type { HostValues } from "./host-values.ts";

/** What the functions that a Go program imports act on. */
export interface FunctionHost {
  readonly values: HostValues;
  /** The program's memory; another object after each growth. */
  memory(): DataView;
  memoryGrew(): void;
  /** The stack pointer: it can move while the program is called back. */
  stack(): number;
  exit(code: number): void;
  write(file: number, bytes: Uint8Array): void;
  /** Nanoseconds. */
  monotonic(): number;
  /** Milliseconds since 1970. */
  now(): number;
  wakeAfter(ms: number): number;
  cancelWake(id: number): void;
  random(bytes: Uint8Array): void;
}

const WORD = 2 ** 32;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Reads what Go has put on its stack for a call, and leaves results there. */
class Frame {
  readonly #host: FunctionHost;
  readonly view: DataView;
  readonly #base: number;

  constructor(host: FunctionHost, stack: number) {
    this.#host = host;
    this.view = host.memory();
    this.#base = stack >>> 0;
  }

  int32(offset: number): number {
    return this.view.getInt32(this.#base + offset, true);
  }

  int64(offset: number): number {
    const at = this.#base + offset;
    return this.view.getUint32(at, true) + this.view.getInt32(at + 4, true) * WORD;
  }

  value(offset: number): unknown {
    return this.#host.values.load(this.view, this.#base + offset);
  }

  values(offset: number): unknown[] {
    const [at, length] = [this.int64(offset), this.int64(offset + 8)];
    return Array.from({ length }, (_, i) => this.#host.values.load(this.view, at + 8 * i));
  }

  bytes(offset: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view.buffer as ArrayBuffer, this.int64(offset), this.int64(offset + 8));
  }

  text(offset: number): string {
    return decoder.decode(this.bytes(offset));
  }

  setInt32(offset: number, value: number): void {
    this.view.setInt32(this.#base + offset, value, true);
  }

  setInt64(offset: number, value: number): void {
    const at = this.#base + offset;
    this.view.setUint32(at, value % WORD, true);
    this.view.setInt32(at + 4, Math.floor(value / WORD), true);
  }

  setBoolean(offset: number, value: boolean): void {
    this.view.setUint8(this.#base + offset, value ? 1 : 0);
  }

  setValue(offset: number, value: unknown): void {
    this.#host.values.store(this.view, this.#base + offset, value);
  }
}

type Target = Record<string, unknown>;

/**
 * The functions that programs for js/wasm import: those that packages `runtime` and `syscall/js` of Go declare without a body.
 * Each gets the stack pointer; arguments and results are on the stack, eight bytes each, behind the return address.
 */
export function hostFunctions(host: FunctionHost): Record<string, (stack: number) => void> {
  const frame = (stack: number) => new Frame(host, stack);
  /** What is called may call Go back, which may move its stack. */
  const afterwards = () => new Frame(host, host.stack());
  const attempt = (call: () => unknown, result: number) => {
    let [value, succeeded] = [undefined as unknown, true];
    try {
      value = call();
    } catch (error) {
      [value, succeeded] = [error, false];
    }
    const then = afterwards();
    then.setValue(result, value);
    then.setBoolean(result + 8, succeeded);
  };
  return {
    ...runtimeFunctions(host, frame),
    ...byteFunctions(frame),
    "syscall/js.finalizeRef": (stack) => host.values.drop(frame(stack).int32(8) >>> 0),
    "syscall/js.stringVal": (stack) => frame(stack).setValue(24, frame(stack).text(8)),
    "syscall/js.valueGet"(stack) {
      const result = Reflect.get(frame(stack).value(8) as Target, frame(stack).text(16));
      afterwards().setValue(32, result);
    },
    "syscall/js.valueSet"(stack) {
      const call = frame(stack);
      Reflect.set(call.value(8) as Target, call.text(16), call.value(32));
    },
    "syscall/js.valueDelete"(stack) {
      const call = frame(stack);
      Reflect.deleteProperty(call.value(8) as Target, call.text(16));
    },
    "syscall/js.valueIndex"(stack) {
      const call = frame(stack);
      call.setValue(24, Reflect.get(call.value(8) as Target, call.int64(16)));
    },
    "syscall/js.valueSetIndex"(stack) {
      const call = frame(stack);
      Reflect.set(call.value(8) as Target, call.int64(16), call.value(24));
    },
    "syscall/js.valueCall"(stack) {
      const call = frame(stack);
      const [self, method, given] = [call.value(8) as Target, call.text(16), call.values(32)];
      attempt(() => Reflect.apply(self[method] as () => unknown, self, given), 56);
    },
    "syscall/js.valueInvoke"(stack) {
      const call = frame(stack);
      const [callee, given] = [call.value(8) as () => unknown, call.values(16)];
      attempt(() => Reflect.apply(callee, undefined, given), 40);
    },
    "syscall/js.valueNew"(stack) {
      const call = frame(stack);
      const [created, given] = [call.value(8) as new () => unknown, call.values(16)];
      attempt(() => Reflect.construct(created, given), 40);
    },
    "syscall/js.valueLength": (stack) => frame(stack).setInt64(16, Number((frame(stack).value(8) as Target)["length"])),
    "syscall/js.valueInstanceOf"(stack) {
      const call = frame(stack);
      call.setBoolean(24, (call.value(8) as object) instanceof (call.value(16) as new () => unknown));
    },
    debug: () => {},
  };
}

function runtimeFunctions(
  host: FunctionHost,
  frame: (stack: number) => Frame,
): Record<string, (stack: number) => void> {
  return {
    "runtime.wasmExit": (stack) => host.exit(frame(stack).int32(8)),
    "runtime.wasmWrite"(stack) {
      const call = frame(stack);
      host.write(call.int64(8), new Uint8Array(call.view.buffer, call.int64(16), call.int32(24)));
    },
    "runtime.resetMemoryDataView": () => host.memoryGrew(),
    "runtime.nanotime1": (stack) => frame(stack).setInt64(8, host.monotonic()),
    "runtime.walltime"(stack) {
      const call = frame(stack);
      const now = host.now();
      call.setInt64(8, Math.floor(now / 1000));
      call.setInt32(16, (now % 1000) * 1_000_000);
    },
    "runtime.scheduleTimeoutEvent": (stack) => frame(stack).setInt32(16, host.wakeAfter(frame(stack).int64(8))),
    "runtime.clearTimeoutEvent": (stack) => host.cancelWake(frame(stack).int32(8)),
    "runtime.getRandomData": (stack) => host.random(frame(stack).bytes(8)),
  };
}

function byteFunctions(frame: (stack: number) => Frame): Record<string, (stack: number) => void> {
  return {
    "syscall/js.valuePrepareString"(stack) {
      const call = frame(stack);
      const bytes = encoder.encode(String(call.value(8)));
      call.setValue(16, bytes);
      call.setInt64(24, bytes.length);
    },
    "syscall/js.valueLoadString"(stack) {
      const call = frame(stack);
      call.bytes(16).set(call.value(8) as Uint8Array);
    },
    "syscall/js.copyBytesToGo"(stack) {
      const call = frame(stack);
      const source = call.value(32);
      call.setBoolean(48, source instanceof Uint8Array);
      if (!(source instanceof Uint8Array)) return;
      const target = call.bytes(8);
      const copied = source.subarray(0, target.length);
      target.set(copied);
      call.setInt64(40, copied.length);
    },
    "syscall/js.copyBytesToJS"(stack) {
      const call = frame(stack);
      const target = call.value(8);
      call.setBoolean(48, target instanceof Uint8Array);
      if (!(target instanceof Uint8Array)) return;
      const copied = call.bytes(16).subarray(0, target.length);
      target.set(copied);
      call.setInt64(40, copied.length);
    },
  };
}
