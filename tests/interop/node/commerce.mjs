// Shops, shipping, customers, identity.

export default (load) => {
  const workos = () => new (load("@workos-inc/node").WorkOS)("sk_unused").webhooks;
  const hubspot = ({ secret, headers, text, url, method }) => {
    const { Signature } = load("@hubspot/api-client");
    return Signature.isValid({
      signatureVersion: "v3",
      signature: headers["x-hubspot-signature-v3"],
      timestamp: Number(headers["x-hubspot-request-timestamp"]),
      clientSecret: secret,
      requestBody: text,
      url,
      method,
    });
  };
  const hubspotSign = (version) => ({ secret, text, url, method, now }) => {
    const timestamp = now * 1000;
    const options = { clientSecret: secret, requestBody: text, url, timestamp };
    const signature = load("@hubspot/api-client").Signature.getSignature(method, version, options);
    return {
      headers:
        version === "v3"
          ? { "x-hubspot-signature-v3": signature, "x-hubspot-request-timestamp": String(timestamp) }
          : { "x-hubspot-signature": signature, "x-hubspot-signature-version": version },
    };
  };

  return {
    shopify: {
      provider: "shopify",
      package: "@shopify/shopify-api",
      calls: "webhooks.validate",
      secret: "shpss_interop-of-the-interoperability-tests",
      verify: async ({ secret, headers, text, method, url }) => {
        load("@shopify/shopify-api/adapters/node");
        const { shopifyApi, ApiVersion, LogSeverity } = load("@shopify/shopify-api");
        const api = shopifyApi({
          apiKey: "unused",
          apiSecretKey: secret,
          hostName: "hooks.example.com",
          apiVersion: Object.values(ApiVersion)[0],
          isEmbeddedApp: false,
          logger: { level: LogSeverity.Error },
        });
        const rawRequest = { headers, method, url: new URL(url).pathname };
        const found = await api.webhooks.validate({ rawBody: text, rawRequest, rawResponse: {} });
        if (!found.valid) throw new Error(JSON.stringify(found));
      },
    },
    // Only v3 is what we sign with.
    hubspot_v1: {
      provider: "hubspot",
      package: "@hubspot/api-client",
      calls: "Signature.getSignature",
      secret: "interop-of-the-interoperability-tests",
      sign: hubspotSign("v1"),
    },
    hubspot_v2: {
      provider: "hubspot",
      package: "@hubspot/api-client",
      calls: "Signature.getSignature",
      secret: "interop-of-the-interoperability-tests",
      sign: hubspotSign("v2"),
    },
    hubspot_v3: {
      provider: "hubspot",
      package: "@hubspot/api-client",
      calls: "Signature.getSignature, isValid",
      secret: "interop-of-the-interoperability-tests",
      sign: hubspotSign("v3"),
      verify: hubspot,
    },
    easypost: {
      provider: "easypost",
      package: "@easypost/api",
      calls: "Utils.validateWebhook",
      // A letter and its mark, which EasyPost takes apart (NFKD).
      secret: "sécret ñ-of-the-interoperability-tests",
      verify: ({ secret, headers, bytes }) => {
        const Client = load("@easypost/api");
        new (Client.default ?? Client)("unused").Utils.validateWebhook(bytes, headers, secret);
      },
    },
    workos: {
      provider: "workos",
      package: "@workos-inc/node",
      calls: "webhooks.computeSignature, verifyHeader",
      secret: "interop-of-the-interoperability-tests",
      sign: async ({ secret, text, now }) => {
        const time = String(now * 1000);
        const signature = await workos().computeSignature(time, JSON.parse(text), secret);
        return { headers: { "workos-signature": `t=${time}, v1=${signature}` } };
      },
      verify: ({ secret, headers, text }) =>
        workos().verifyHeader({ payload: JSON.parse(text), sigHeader: headers["workos-signature"], secret }),
    },
    onfido: {
      provider: "onfido",
      package: "@onfido/api",
      calls: "WebhookEventVerifier.readPayload",
      secret: "interop-of-the-interoperability-tests",
      verify: ({ secret, headers, bytes }) => {
        new (load("@onfido/api").WebhookEventVerifier)(secret).readPayload(bytes, headers["x-sha2-signature"]);
      },
    },
    clerk: {
      provider: "clerk",
      package: "@clerk/backend",
      calls: "verifyWebhook",
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      verify: async ({ secret, headers, text, url, method }) => {
        const request = new Request(url, { method, headers, body: text });
        await load("@clerk/backend/webhooks").verifyWebhook(request, { signingSecret: secret });
      },
    },
  };
};
