// Answers questions with the providers' own Node.js packages.
//
// One JSON object a line on standard input, one on standard output. See tests/interop/README.md for the questions.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

// The packages stand where the tests have installed them, not beside this file.
const require = createRequire(`${process.argv[2]}/`);
const Stripe = require("stripe");
const { Webhook } = require("standardwebhooks");

const stripe = new Stripe("sk_test_unused");

const questions = {
  "stripe.sign": ({ secret, timestamp }, body) => ({
    headers: {
      "stripe-signature": stripe.webhooks.generateTestHeaderString({ payload: body.toString("utf8"), secret, timestamp }),
    },
  }),
  "stripe.verify": ({ secret, headers }, body) => ({
    id: stripe.webhooks.constructEvent(body, headers["stripe-signature"], secret).id,
  }),
  "standardwebhooks.sign": ({ secret, id, timestamp }, body) => ({
    headers: {
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": new Webhook(secret).sign(id, new Date(timestamp * 1000), body.toString("utf8")),
    },
  }),
  "standardwebhooks.verify": ({ secret, headers }, body) => {
    new Webhook(secret).verify(body, headers);
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  let answer;
  try {
    answer = { ok: true, ...questions[question.ask](question, Buffer.from(question.body, "base64")) };
  } catch (error) {
    answer = { ok: false, error: `${error.name}: ${error.message}` };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
