"""Standard Webhooks, files, identity, AI. Entries are described in tests/interop/README.md."""

from datetime import datetime, timezone

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def signed(prefix, webhook):
    def sign(request):
        identity = request.headers.get(f"{prefix}-id", f"msg_{request.now}")
        moment = datetime.fromtimestamp(request.now, tz=timezone.utc)
        # Two names for one id would be doubtful, and are refused.
        gone = {"webhook-id": None} if prefix == "svix" else {}
        return {
            "headers": {
                **gone,
                f"{prefix}-id": identity,
                f"{prefix}-timestamp": str(request.now),
                f"{prefix}-signature": webhook(request.secret).sign(identity, moment, request.text),
            }
        }

    return sign


def verified(webhook):
    def verify(request):
        webhook(request.secret).verify(request.bytes, request.headers)

    return verify


def standard(secret):
    import standardwebhooks

    return standardwebhooks.Webhook(secret)


def svix(secret):
    import svix.webhooks

    return svix.webhooks.Webhook(secret)


def replicate_verify(request):
    from replicate.webhook import Webhooks, WebhookSigningSecret

    secret = WebhookSigningSecret(key=request.secret)
    Webhooks.validate(headers=request.headers, body=request.text, secret=secret, tolerance=300)


def resend_verify(request):
    import resend

    headers = {name: request.headers[f"svix-{name}"] for name in ("id", "timestamp", "signature")}
    resend.Webhooks.verify({"payload": request.text, "headers": headers, "webhook_secret": request.secret})


def elevenlabs_verify(request):
    from elevenlabs import ElevenLabs

    webhooks = ElevenLabs(api_key="unused").webhooks
    webhooks.construct_event(request.text, request.headers["elevenlabs-signature"], request.secret)


def hook0_verify(request):
    from hook0 import verify_webhook_signature

    signature = request.headers["x-hook0-signature"]
    return verify_webhook_signature(signature, request.bytes, request.headers, request.secret, 300)


def workos_verify(request):
    from workos.webhooks._verification import verify_header

    verify_header(
        event_body=request.bytes, event_signature=request.headers["workos-signature"], secret=request.secret
    )


def onfido_verify(request):
    from onfido import WebhookEventVerifier

    WebhookEventVerifier(request.secret).read_payload(request.text, request.headers["x-sha2-signature"])


def box_verify(request):
    from boxsdk.object.webhook import Webhook

    return Webhook.validate_message(request.bytes, request.headers, request.secret)


CASES = {
    "standardwebhooks": {
        "provider": "standard_webhooks",
        "package": "standardwebhooks",
        "calls": "Webhook.sign, verify",
        "secret": SECRET,
        "sign": signed("webhook", standard),
        "verify": verified(standard),
    },
    "svix": {
        "provider": "standard_webhooks",
        "package": "svix",
        "calls": "Webhook.sign, verify",
        "secret": SECRET,
        "sign": signed("svix", svix),
        "verify": verified(svix),
    },
    "replicate": {
        "provider": "replicate",
        "package": "replicate",
        "calls": "Webhooks.validate",
        "secret": SECRET,
        "verify": replicate_verify,
    },
    "resend": {
        "provider": "resend",
        "package": "resend",
        "calls": "Webhooks.verify",
        "secret": SECRET,
        "verify": resend_verify,
    },
    "elevenlabs": {
        "provider": "elevenlabs",
        "package": "elevenlabs",
        "calls": "webhooks.construct_event",
        "secret": "wsec_interop-of-the-interoperability-tests",
        "verify": elevenlabs_verify,
    },
    "hook0": {
        "provider": "hook0",
        "package": "hook0-client",
        "calls": "verify_webhook_signature",
        "secret": "interop-of-the-interoperability-tests",
        "verify": hook0_verify,
    },
    "coinbase_cdp": {
        "provider": "coinbase_cdp",
        "package": "hook0-client",
        "calls": "verify_webhook_signature (Coinbase sends through Hook0)",
        "secret": "interop-of-the-interoperability-tests",
        "verify": hook0_verify,
    },
    "workos": {
        "provider": "workos",
        "package": "workos",
        "calls": "webhooks.verify_header",
        "secret": "interop-of-the-interoperability-tests",
        "verify": workos_verify,
    },
    "onfido": {
        "provider": "onfido",
        "package": "onfido-python",
        "calls": "WebhookEventVerifier.read_payload",
        "secret": "interop-of-the-interoperability-tests",
        "verify": onfido_verify,
    },
    "box": {
        "provider": "box",
        "package": "boxsdk",
        "calls": "Webhook.validate_message",
        "secret": "SamplePrimaryKey",
        "verify": box_verify,
    },
}
