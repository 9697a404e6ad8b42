// Standard Webhooks and who builds on it, developers' tools, media, AI.

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

// A client that is made only for its verifier.
const client = (module, options) => new (module.default ?? module)(options);

export default (load, packages) => {
  // Only for `import`, which knows no folder but its own.
  const octokit = () => import(`${packages}/node_modules/@octokit/webhooks-methods/dist-node/index.js`);
  const standard = (secret) => new (load("standardwebhooks").Webhook)(secret);
  const svix = (secret) => new (load("svix").Webhook)(secret);
  const signed = (prefix, webhook) => ({ secret, headers, text, now }) => {
    const id = headers[`${prefix}-id`] ?? `msg_${now}`;
    return {
      headers: {
        [`${prefix}-id`]: id,
        [`${prefix}-timestamp`]: String(now),
        [`${prefix}-signature`]: webhook(secret).sign(id, new Date(now * 1000), text),
        // Two names for one id would be doubtful, and are refused.
        ...(prefix === "svix" && { "webhook-id": null }),
      },
    };
  };

  return {
    standardwebhooks: {
      provider: "standard_webhooks",
      package: "standardwebhooks",
      calls: "Webhook.sign, verify",
      secret: SECRET,
      sign: signed("webhook", standard),
      verify: ({ secret, headers, bytes }) => {
        standard(secret).verify(bytes, headers);
      },
    },
    svix: {
      provider: "standard_webhooks",
      package: "svix",
      calls: "Webhook.sign, verify",
      secret: SECRET,
      sign: signed("svix", svix),
      verify: ({ secret, headers, bytes }) => {
        svix(secret).verify(bytes, headers);
      },
    },
    dodopayments: {
      provider: "standard_webhooks",
      package: "dodopayments",
      calls: "webhooks.unwrap",
      secret: SECRET,
      verify: ({ secret, headers, text }) => {
        client(load("dodopayments"), { bearerToken: "unused" }).webhooks.unwrap(text, { headers, key: secret });
      },
    },
    portone: {
      provider: "standard_webhooks",
      package: "@portone/server-sdk",
      calls: "Webhook.verify",
      secret: SECRET,
      verify: ({ secret, headers, text }) => load("@portone/server-sdk").Webhook.verify(secret, text, headers),
    },
    liveblocks: {
      provider: "standard_webhooks",
      package: "@liveblocks/node",
      calls: "WebhookHandler.verifyRequest",
      secret: SECRET,
      verify: ({ secret, headers, text }) => {
        try {
          new (load("@liveblocks/node").WebhookHandler)(secret).verifyRequest({ headers, rawBody: text });
        } catch (error) {
          // Our sample is none of its types, which it looks at after the signature.
          if (!error.message.startsWith("Unknown event type")) throw error;
        }
      },
    },
    openai: {
      provider: "openai",
      package: "openai",
      calls: "webhooks.unwrap",
      secret: SECRET,
      verify: ({ secret, headers, text }) =>
        client(load("openai"), { apiKey: "unused" }).webhooks.unwrap(text, headers, secret),
    },
    anthropic: {
      provider: "anthropic",
      package: "@anthropic-ai/sdk",
      calls: "beta.webhooks.unwrap",
      secret: SECRET,
      verify: ({ secret, headers, text }) => {
        client(load("@anthropic-ai/sdk"), { apiKey: "unused" }).beta.webhooks.unwrap(text, { headers, key: secret });
      },
    },
    replicate: {
      provider: "replicate",
      package: "replicate",
      calls: "validateWebhook",
      secret: SECRET,
      verify: ({ secret, headers, text }) => load("replicate").validateWebhook({ headers, body: text }, secret),
    },
    resend: {
      provider: "resend",
      package: "resend",
      calls: "webhooks.verify",
      secret: SECRET,
      verify: ({ secret, headers, text }) => {
        const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) => headers[`svix-${name}`]);
        new (load("resend").Resend)("re_unused").webhooks.verify({
          payload: text,
          headers: { id, timestamp, signature },
          webhookSecret: secret,
        });
      },
    },
    github: {
      provider: "github",
      package: "@octokit/webhooks-methods",
      calls: "sign, verify",
      secret: "It's a Secret to Everybody",
      sign: async ({ secret, text }) => {
        const { sign } = await octokit();
        return { headers: { "x-hub-signature-256": await sign(secret, text) } };
      },
      verify: async ({ secret, headers, text }) => {
        const { verify } = await octokit();
        return verify(secret, text, headers["x-hub-signature-256"]);
      },
    },
    linear: {
      provider: "linear",
      package: "@linear/sdk",
      calls: "LinearWebhookClient.verify",
      secret: "lin_wh_interop-of-the-interoperability-tests",
      verify: ({ secret, headers, bytes }) =>
        new (load("@linear/sdk/webhooks").LinearWebhookClient)(secret).verify(bytes, headers["linear-signature"]),
    },
    notion: {
      provider: "notion",
      package: "@notionhq/client",
      calls: "signWebhookPayload, verifyWebhookSignature",
      secret: "secret_interop-of-the-interoperability-tests",
      sign: async ({ secret, text }) => ({
        headers: {
          "x-notion-signature": await load("@notionhq/client").signWebhookPayload({ body: text, verificationToken: secret }),
        },
      }),
      verify: ({ secret, headers, text }) =>
        load("@notionhq/client").verifyWebhookSignature({
          body: text,
          signature: headers["x-notion-signature"],
          verificationToken: secret,
        }),
    },
    sanity: {
      provider: "sanity",
      package: "@sanity/webhook",
      calls: "encodeSignatureHeader, assertValidSignature",
      secret: "interop-of-the-interoperability-tests",
      sign: async ({ secret, text, now }) => {
        const { encodeSignatureHeader } = load("@sanity/webhook");
        return { headers: { "sanity-webhook-signature": await encodeSignatureHeader(text, now * 1000, secret) } };
      },
      verify: ({ secret, headers, text }) =>
        load("@sanity/webhook").assertValidSignature(text, headers["sanity-webhook-signature"], secret),
    },
    mux: {
      provider: "mux",
      package: "@mux/mux-node",
      calls: "webhooks.verifySignature",
      secret: "interop-of-the-interoperability-tests",
      verify: ({ secret, headers, text }) =>
        client(load("@mux/mux-node"), { tokenId: "unused", tokenSecret: "unused" }).webhooks.verifySignature(
          text,
          headers,
          secret,
        ),
    },
    hook0: {
      provider: "hook0",
      package: "hook0-client",
      calls: "verifyWebhookSignature",
      secret: "interop-of-the-interoperability-tests",
      verify: ({ secret, headers, bytes }) => {
        const { verifyWebhookSignature } = load("hook0-client");
        return verifyWebhookSignature(headers["x-hook0-signature"], bytes, new Headers(headers), secret, 300);
      },
    },
    box: {
      provider: "box",
      package: "box-node-sdk",
      calls: "WebhooksManager.validateMessage",
      secret: "SamplePrimaryKey",
      verify: ({ secret, headers, text }) =>
        load("box-node-sdk/lib/managers/webhooks").WebhooksManager.validateMessage(text, headers, secret),
    },
    moralis: {
      provider: "moralis",
      package: "@moralisweb3/streams",
      calls: "Streams.verifySignature",
      secret: "interop-of-the-interoperability-tests",
      verify: ({ secret, headers, text }) => {
        const { Streams } = load("@moralisweb3/streams");
        const streams = Streams.create({ config: { get: () => secret } });
        return streams.verifySignature({ body: JSON.parse(text), signature: headers["x-signature"] });
      },
    },
  };
};
