// Does nothing and waits: what a Node process weighs by itself.
console.log(0);
process.stdin.resume();
