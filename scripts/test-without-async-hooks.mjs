// Loaded before a test file. Node's test runner tracks every promise, to attribute uncaught errors to a test; in scenarios, which
// create very many, that takes a fifth of the CPU time. Without tracking, such an error fails the whole file instead of one test.
const asyncHooks = process.getBuiltinModule("node:async_hooks");
const { createHook } = asyncHooks;
const idle = { enable: () => idle, disable: () => idle };
asyncHooks.createHook = (callbacks) =>
  new Error().stack?.includes("node:internal/test_runner") ? idle : createHook(callbacks);
