// Messages and calls.

import { createSign, generateKeyPairSync, sign as signWith } from "node:crypto";

const { privateKey: ed25519, publicKey: ed25519Public } = generateKeyPairSync("ed25519");
const raw = ed25519Public.export({ type: "spki", format: "der" }).subarray(-32);
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const p256Public = p256.publicKey.export({ type: "spki", format: "der" }).toString("base64");
const pem = (key) => key.export({ type: "pkcs8", format: "pem" });

export default (load) => {
  const fields = (text) => Object.fromEntries(new URLSearchParams(text));
  const twilio = (algorithm) => ({
    provider: "twilio",
    package: "twilio",
    calls: "getExpectedTwilioSignature, validateRequest",
    secret: "12345-of-the-interoperability-tests",
    sign: ({ secret, text, url }) => ({
      headers: {
        "x-twilio-signature": load("twilio").getExpectedTwilioSignature(secret, url, fields(text), algorithm),
      },
    }),
    verify: ({ secret, headers, text, url }) =>
      load("twilio").validateRequest(secret, headers["x-twilio-signature"], url, fields(text), algorithm),
  });

  return {
    twilio: twilio(),
    twilio_shared_key: {
      ...twilio("HMAC_SHA256"),
      // The header is not signed; it says how the rest is.
      headers: { "x-twilio-webhooks-signature-settings": "key=webhooks_sharedkey_1,algorithm=HMAC_SHA256" },
    },
    line: {
      provider: "line",
      package: "@line/bot-sdk",
      calls: "validateSignature",
      secret: "of-the-interoperability-tests",
      verify: ({ secret, headers, bytes }) =>
        load("@line/bot-sdk").validateSignature(bytes, secret, headers["x-line-signature"]),
    },
    slack: {
      provider: "slack_events",
      package: "@slack/bolt",
      calls: "verifySlackRequest",
      secret: "8f742231b10e8888abcd99yyyzzz85a5",
      verify: ({ secret, headers, text }) =>
        load("@slack/bolt/dist/receivers/verify-request.js").verifySlackRequest({
          signingSecret: secret,
          body: text,
          headers: {
            "x-slack-signature": headers["x-slack-signature"],
            "x-slack-request-timestamp": Number(headers["x-slack-request-timestamp"]),
          },
        }),
    },
    pusher: {
      provider: "pusher",
      package: "pusher",
      calls: "webhook().isValid",
      secret: "interop-of-the-interoperability-tests",
      verify: ({ secret, headers, text }) => {
        const Pusher = load("pusher");
        const pusher = new Pusher({ appId: "1", key: headers["x-pusher-key"], secret, cluster: "eu" });
        return pusher.webhook({ headers, rawBody: text }).isValid();
      },
    },
    sendgrid: {
      provider: "sendgrid",
      package: "@sendgrid/eventwebhook",
      calls: "EventWebhook.verifySignature",
      secret: p256Public,
      private_key: pem(p256.privateKey),
      make: ({ bytes, now }) => ({
        headers: {
          "x-twilio-email-event-webhook-timestamp": String(now),
          "x-twilio-email-event-webhook-signature": createSign("sha256")
            .update(String(now))
            .update(bytes)
            .sign(p256.privateKey, "base64"),
        },
      }),
      verify: ({ secret, headers, bytes }) => {
        const { EventWebhook } = load("@sendgrid/eventwebhook");
        const webhook = new EventWebhook();
        return webhook.verifySignature(
          webhook.convertPublicKeyToECDSA(secret),
          bytes,
          headers["x-twilio-email-event-webhook-signature"],
          headers["x-twilio-email-event-webhook-timestamp"],
        );
      },
    },
    discord: {
      provider: "discord_interactions",
      package: "discord-interactions",
      calls: "verifyKey",
      secret: raw.toString("hex"),
      private_key: pem(ed25519),
      make: ({ bytes, now }) => ({
        headers: {
          "x-signature-timestamp": String(now),
          "x-signature-ed25519": signWith(null, Buffer.concat([Buffer.from(String(now)), bytes]), ed25519).toString("hex"),
        },
      }),
      verify: ({ secret, headers, bytes }) =>
        load("discord-interactions").verifyKey(
          bytes,
          headers["x-signature-ed25519"],
          headers["x-signature-timestamp"],
          secret,
        ),
    },
    telnyx: {
      provider: "telnyx",
      package: "telnyx",
      calls: "webhooks.unwrap",
      secret: raw.toString("base64"),
      private_key: pem(ed25519),
      make: ({ bytes, now }) => ({
        headers: {
          "telnyx-timestamp": String(now),
          "telnyx-signature-ed25519": signWith(null, Buffer.concat([Buffer.from(`${now}|`), bytes]), ed25519).toString(
            "base64",
          ),
        },
      }),
      verify: async ({ secret, headers, text }) => {
        const Telnyx = load("telnyx").default;
        await new Telnyx({ apiKey: "unused" }).webhooks.unwrap(text, { headers, key: secret });
      },
    },
  };
};
