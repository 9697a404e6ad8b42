// Answers questions with the providers' own Node.js packages.
//
// One JSON object a line on standard input, one on standard output. See tests/interop/README.md for the questions.

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

// The packages stand where the tests have installed them, not beside this file.
const packages = process.argv[2];
const load = createRequire(`${packages}/`);

// Packages that tell what they do tell it on standard error: standard output is for answers.
console.log = console.info = console.warn = console.debug = console.error;

const cases = new Map();
const folder = new URL("node/", import.meta.url);
for (const file of readdirSync(folder).sort()) {
  const { default: found } = await import(new URL(file, folder));
  for (const [name, entry] of Object.entries(found(load, packages))) cases.set(name, entry);
}

function installed(id) {
  try {
    return { version: JSON.parse(readFileSync(`${packages}/node_modules/${id}/package.json`)).version };
  } catch (error) {
    return { error: error.message };
  }
}

const describe = ([name, { provider, package: id, calls, sign, verify, make, open, ...facts }]) => ({
  name,
  provider,
  package: id,
  ...installed(id),
  calls,
  signs: Boolean(sign),
  verifies: Boolean(verify),
  makes: Boolean(make),
  ...facts,
});

const questions = {
  cases: () => ({ cases: [...cases].map(describe) }),
  sign: (entry, request) => entry.sign(request),
  make: (entry, request) => entry.make(request),
  verify: async (entry, request) => {
    if ((await entry.verify(request)) === false) throw new Error("said no");
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, case: name, body = "", ...rest } = JSON.parse(line);
  const bytes = Buffer.from(body, "base64");
  let answer;
  try {
    const entry = cases.get(name);
    answer = { ok: true, ...(await questions[ask](entry, { ...rest, bytes, text: bytes.toString("utf8") })) };
    if (answer.body) answer.body = Buffer.from(answer.body).toString("base64");
  } catch (error) {
    answer = { ok: false, error: `${error?.name}: ${error?.message}` };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
