// Websites and media.

export default (load) => {
  const cloudinary = (algorithm) => ({
    provider: "cloudinary",
    package: "cloudinary",
    calls: "utils.webhook_signature, verifyNotificationSignature",
    secret: "of-the-interoperability-tests",
    sign: ({ secret, text, now }) => {
      const { v2 } = load("cloudinary");
      const options = { api_secret: secret, signature_algorithm: algorithm };
      return {
        headers: { "x-cld-timestamp": String(now), "x-cld-signature": v2.utils.webhook_signature(text, now, options) },
      };
    },
    verify: ({ secret, headers, text }) => {
      const { v2 } = load("cloudinary");
      v2.config({ api_secret: secret, signature_algorithm: algorithm });
      const [timestamp, signature] = ["timestamp", "signature"].map((name) => headers[`x-cld-${name}`]);
      return v2.utils.verifyNotificationSignature(text, Number(timestamp), signature);
    },
  });

  return {
    cloudinary: cloudinary("sha1"),
    // We sign with SHA-1, the default.
    cloudinary_sha256: { ...cloudinary("sha256"), calls: "utils.webhook_signature", verify: undefined },
    webflow: {
      provider: "webflow",
      package: "webflow-api",
      calls: "webhooks.verifySignature",
      secret: "of-the-interoperability-tests",
      verify: ({ secret, headers, text }) => {
        const { WebflowClient } = load("webflow-api");
        return new WebflowClient({ accessToken: "unused" }).webhooks.verifySignature({ headers, body: text, secret });
      },
    },
  };
};
