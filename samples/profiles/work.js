// What the CPU profile of V8 was recorded of: see make.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function load(n) { return Array.from({ length: n }, (_, i) => String(i)).sort(); }
function step() { load(3000); fib(20); }
const end = Date.now() + 150;
while (Date.now() < end) step();
