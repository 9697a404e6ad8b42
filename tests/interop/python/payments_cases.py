"""Payments, shipping, finance. Entries are described in tests/interop/README.md."""

import json


def stripe_sign(request):
    import stripe

    signature = stripe.WebhookSignature._compute_signature(f"{request.now}.{request.text}", request.secret)
    return {"headers": {"stripe-signature": f"t={request.now},v1={signature}"}}


def stripe_verify(request):
    import stripe

    stripe.Webhook.construct_event(request.bytes, request.headers["stripe-signature"], request.secret)


def adyen_sign(request):
    from Adyen.util import generate_notification_sig

    body = json.loads(request.text)
    fields = body["notificationItems"][0]["NotificationRequestItem"]
    fields["additionalData"]["hmacSignature"] = generate_notification_sig(fields, request.secret).decode()
    return {"body": json.dumps(body)}


def adyen_verify(request):
    from Adyen.util import is_valid_hmac_notification

    return is_valid_hmac_notification(json.loads(request.text), request.secret)


def adyen_platform_sign(request):
    from Adyen.util import generate_payload_sig

    return {"headers": {"hmacsignature": generate_payload_sig(request.bytes, request.secret).decode()}}


def adyen_platform_verify(request):
    from Adyen.util import is_valid_hmac_payload

    return is_valid_hmac_payload(request.headers["hmacsignature"], request.secret, request.bytes)


def square_verify(request):
    from square.utils.webhooks_helper import verify_signature

    return verify_signature(
        request_body=request.text,
        signature_header=request.headers["x-square-hmacsha256-signature"],
        signature_key=request.secret,
        notification_url=request.url,
    )


def razorpay_verify(request):
    import razorpay

    utility = razorpay.Client(auth=("unused", "unused")).utility
    return utility.verify_webhook_signature(request.text, request.headers["x-razorpay-signature"], request.secret)


def paddle_verify(request):
    from types import SimpleNamespace

    from paddle_billing.Notifications import Secret, Verifier

    got = SimpleNamespace(headers={"Paddle-Signature": request.headers["paddle-signature"]}, body=request.bytes)
    return Verifier().verify(got, Secret(request.secret))


def treasury():
    from modern_treasury import ModernTreasury

    return ModernTreasury(api_key="unused", organization_id="unused").webhooks


def treasury_sign(request):
    return {"headers": {"x-signature": treasury().get_signature(request.text, key=request.secret)}}


def treasury_verify(request):
    return treasury().validate_signature(request.text, request.headers, key=request.secret)


def increase_verify(request):
    from increase import Increase

    Increase(api_key="unused").events.unwrap(request.text, headers=request.headers, key=request.secret.encode())


def easypost_verify(request):
    from easypost.util import validate_webhook

    validate_webhook(request.bytes, {"X-Hmac-Signature": request.headers["x-hmac-signature"]}, request.secret)


ADYEN_KEY = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"

CASES = {
    "stripe": {
        "provider": "stripe",
        "package": "stripe",
        "calls": "WebhookSignature, Webhook.construct_event",
        "secret": "whsec_interop-of-the-interoperability-tests",
        "sign": stripe_sign,
        "verify": stripe_verify,
    },
    "adyen": {
        "provider": "adyen",
        "package": "Adyen",
        "calls": "generate_notification_sig, is_valid_hmac_notification",
        "secret": ADYEN_KEY,
        # Eight fields are signed, the rest of the body is not. Python writes a blank after a colon, we do not.
        "tamper": ['"ExampleShopECOM"', '"ExampleShopECON"'],
        "sign": adyen_sign,
        "verify": adyen_verify,
    },
    "adyen_platform": {
        "provider": "adyen_platform",
        "package": "Adyen",
        "calls": "generate_payload_sig, is_valid_hmac_payload",
        "secret": ADYEN_KEY,
        "sign": adyen_platform_sign,
        "verify": adyen_platform_verify,
    },
    "square": {
        "provider": "square",
        "package": "squareup",
        "calls": "verify_signature",
        "secret": "asdf1234-of-the-interoperability-tests",
        "verify": square_verify,
    },
    "razorpay": {
        "provider": "razorpay",
        "package": "razorpay",
        "calls": "utility.verify_webhook_signature",
        "secret": "interop secret-of-the-interoperability-tests",
        "verify": razorpay_verify,
    },
    "paddle": {
        "provider": "paddle_billing",
        "package": "paddle-python-sdk",
        "calls": "Verifier.verify",
        "secret": "pdl_ntfset_interop",
        "verify": paddle_verify,
    },
    "modern_treasury": {
        "provider": "modern_treasury",
        "package": "modern-treasury",
        "calls": "webhooks.get_signature, validate_signature",
        "secret": "interop key-of-the-interoperability-tests",
        "sign": treasury_sign,
        "verify": treasury_verify,
    },
    "increase": {
        "provider": "increase",
        "package": "increase",
        "calls": "events.unwrap",
        "secret": "interop-of-the-interoperability-tests",
        "verify": increase_verify,
    },
    "easypost": {
        "provider": "easypost",
        "package": "easypost",
        "calls": "validate_webhook",
        # A letter and its mark, which EasyPost takes apart (NFKD).
        "secret": "sécret ñ-of-the-interoperability-tests",
        "verify": easypost_verify,
    },
}
