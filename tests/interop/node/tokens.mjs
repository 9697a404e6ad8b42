// Schemes whose signature holds more than itself: tokens (JWT), and Braintree's form.

import { createHash } from "node:crypto";

const SECRET = "a-secret-of-the-interoperability-tests";

export default (load) => {
  const braintree = (secret) => {
    const { BraintreeGateway, Environment } = load("braintree");
    return new BraintreeGateway({
      environment: Environment.Sandbox,
      merchantId: "unused",
      publicKey: "integration_public_key",
      privateKey: secret,
    });
  };

  return {
    livekit: {
      provider: "livekit",
      package: "livekit-server-sdk",
      calls: "AccessToken.toJwt, WebhookReceiver.receive",
      secret: SECRET,
      settings: { api_key: "APIinterop" },
      sign: async ({ secret, bytes }) => {
        const token = new (load("livekit-server-sdk").AccessToken)("APIinterop", secret);
        token.sha256 = createHash("sha256").update(bytes).digest("base64");
        return { headers: { authorization: await token.toJwt() } };
      },
      verify: async ({ secret, headers, text }) => {
        const { WebhookReceiver } = load("livekit-server-sdk");
        await new WebhookReceiver("APIinterop", secret).receive(text, headers.authorization);
      },
    },
    vonage: {
      provider: "vonage",
      package: "@vonage/jwt",
      calls: "verifySignature",
      secret: SECRET,
      // The package reads the token alone, and leaves the body's hash in it to the caller.
      tamper: "header:authorization",
      verify: ({ secret, headers }) =>
        load("@vonage/jwt").verifySignature(headers.authorization.replace("Bearer ", ""), secret),
    },
    braintree: {
      provider: "braintree",
      package: "braintree",
      calls: "webhookTesting.sampleNotification, webhookNotification.parse",
      secret: SECRET,
      sign: async ({ secret, now }) => {
        const kind = "subscription_charged_successfully";
        return { body: String(new URLSearchParams(await braintree(secret).webhookTesting.sampleNotification(kind, `s${now}`))) };
      },
      verify: async ({ secret, text }) => {
        const form = new URLSearchParams(text);
        await braintree(secret).webhookNotification.parse(form.get("bt_signature"), form.get("bt_payload"));
      },
    },
  };
};
