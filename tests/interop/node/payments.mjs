// Payments and finance. Entries are described in tests/interop/README.md.

export default (load) => {
  const stripe = () => new (load("stripe"))("sk_test_unused").webhooks;
  const treasury = () => new (load("modern-treasury"))({ apiKey: "unused", organizationID: "unused" }).webhooks;
  const adyen = () => new (load("@adyen/api-library").hmacValidator)();
  const item = (text) => JSON.parse(text).notificationItems[0].NotificationRequestItem;

  return {
    stripe: {
      provider: "stripe",
      package: "stripe",
      calls: "generateTestHeaderString, constructEvent",
      secret: "whsec_interop-of-the-interoperability-tests",
      sign: ({ secret, text, now }) => ({
        headers: {
          "stripe-signature": stripe().generateTestHeaderString({ payload: text, secret, timestamp: now }),
        },
      }),
      verify: ({ secret, headers, bytes }) => {
        stripe().constructEvent(bytes, headers["stripe-signature"], secret);
      },
    },
    adyen: {
      provider: "adyen",
      package: "@adyen/api-library",
      calls: "hmacValidator.calculateHmac, validateHMAC",
      secret: "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
      // Eight fields are signed, the rest of the body is not.
      tamper: ['"value":4200', '"value":4201'],
      sign: ({ secret, text }) => {
        const signed = JSON.parse(text);
        const fields = signed.notificationItems[0].NotificationRequestItem;
        fields.additionalData.hmacSignature = adyen().calculateHmac(fields, secret);
        return { body: JSON.stringify(signed) };
      },
      verify: ({ secret, text }) => adyen().validateHMAC(item(text), secret),
    },
    adyen_platform: {
      provider: "adyen_platform",
      package: "@adyen/api-library",
      calls: "hmacValidator.calculateHmac, validateHMACSignature",
      secret: "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
      sign: ({ secret, text }) => ({ headers: { hmacsignature: adyen().calculateHmac(text, secret) } }),
      verify: ({ secret, headers, text }) => adyen().validateHMACSignature(secret, headers.hmacsignature, text),
    },
    square: {
      provider: "square",
      package: "square",
      calls: "WebhooksHelper.verifySignature",
      secret: "asdf1234-of-the-interoperability-tests",
      verify: ({ secret, headers, text, url }) =>
        load("square").WebhooksHelper.verifySignature({
          requestBody: text,
          signatureHeader: headers["x-square-hmacsha256-signature"],
          signatureKey: secret,
          notificationUrl: url,
        }),
    },
    razorpay: {
      provider: "razorpay",
      package: "razorpay",
      calls: "validateWebhookSignature",
      secret: "interop secret-of-the-interoperability-tests",
      verify: ({ secret, headers, text }) =>
        load("razorpay").validateWebhookSignature(text, headers["x-razorpay-signature"], secret),
    },
    paddle: {
      provider: "paddle_billing",
      package: "@paddle/paddle-node-sdk",
      calls: "webhooks.isSignatureValid",
      secret: "pdl_ntfset_interop",
      verify: ({ secret, headers, text }) =>
        new (load("@paddle/paddle-node-sdk").Paddle)("unused").webhooks.isSignatureValid(
          text,
          secret,
          headers["paddle-signature"],
        ),
    },
    polar: {
      provider: "polar",
      package: "@polar-sh/sdk",
      calls: "validateEvent",
      secret: "polar_whs_interop",
      verify: ({ secret, headers, text }) => {
        const { validateEvent, WebhookVerificationError } = load("@polar-sh/sdk/webhooks");
        try {
          validateEvent(text, headers, secret);
        } catch (error) {
          // Our sample has fewer fields than the package's schema, which it reads after the signature.
          if (error instanceof WebhookVerificationError) throw error;
          if (error.name !== "SDKValidationError") throw error;
        }
      },
    },
    modern_treasury: {
      provider: "modern_treasury",
      package: "modern-treasury",
      calls: "webhooks.getSignature, validateSignature",
      secret: "interop key-of-the-interoperability-tests",
      sign: ({ secret, text }) => ({ headers: { "x-signature": treasury().getSignature(text, { key: secret }) } }),
      verify: ({ secret, headers, text }) =>
        treasury().validateSignature(text, { "X-Signature": headers["x-signature"] }, { key: secret }),
    },
    gocardless: {
      provider: "gocardless",
      package: "gocardless-nodejs",
      calls: "webhooks.parse",
      secret: "of-the-interoperability-tests",
      verify: ({ secret, headers, bytes }) => {
        load("gocardless-nodejs/webhooks").parse(bytes, secret, headers["webhook-signature"]);
      },
    },
    chargebee: {
      provider: "chargebee",
      package: "chargebee",
      calls: "basicAuthValidator",
      secret: "hookgate:a:password:of:these:tests",
      // A password is sent, and nothing is signed.
      tamper: "header:authorization",
      verify: ({ secret, headers }) => {
        const [user, ...rest] = secret.split(":");
        const known = (name, password) => name === user && password === rest.join(":");
        return load("chargebee").basicAuthValidator(known)(headers);
      },
    },
  };
};
