import assert from "node:assert/strict";
import { test } from "node:test";
import { panicPlace } from "./process-exit.ts";

test("a panic's place is the function that caused it, also when it was recovered and raised again", () => {
  const plain = `a line
panic: it cannot work

goroutine 1 [running]:
main.main()
	example.com/program/main.go:3 +0x2
exit status 2`;
  assert.equal(panicPlace(plain), "main.main (example.com/program/main.go:3)");
  const again = `panic: invalid memory address [recovered, repanicked]
[signal 0xb code=0x0 addr=0x0 pc=0x0]

goroutine 7 [running]:
sigs.k8s.io/controller-runtime/pkg/internal/controller.(*Controller).Reconcile.func1()
	sigs.k8s.io/controller-runtime/controller.go:119 +0x1e5
panic({0x1, 0x2})
	runtime/panic.go:783 +0x132
runtime.panicmem()
	runtime/panic.go:262 +0x3
main.(*reconciler).Reconcile(0xc000, {0x1, 0x2})
	example.com/program/reconcile.go:42 +0x17
main.other()
	example.com/program/main.go:7

goroutine 1 [chan receive]:
main.main()
	example.com/program/main.go:9`;
  assert.equal(panicPlace(again), "main.(*reconciler).Reconcile (example.com/program/reconcile.go:42)");
  assert.equal(panicPlace("Traceback (most recent call last):\n  File x"), undefined);
});
