"""Schemes with a key pair: these packages verify only, so the runner signs with a key of its own."""

import base64

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

P256 = ec.generate_private_key(ec.SECP256R1())
P256_PUBLIC = base64.b64encode(
    P256.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
).decode()
ED25519 = ed25519.Ed25519PrivateKey.generate()
ED25519_PUBLIC = ED25519.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def pem(key):
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def sendgrid_make(request):
    timestamp = str(request.now)
    signature = P256.sign(timestamp.encode() + request.bytes, ec.ECDSA(hashes.SHA256()))
    return {
        "headers": {
            "x-twilio-email-event-webhook-timestamp": timestamp,
            "x-twilio-email-event-webhook-signature": base64.b64encode(signature).decode(),
        }
    }


def sendgrid_verify(request):
    from sendgrid.helpers.eventwebhook import EventWebhook

    return EventWebhook(request.secret).verify_signature(
        request.text,
        request.headers["x-twilio-email-event-webhook-signature"],
        request.headers["x-twilio-email-event-webhook-timestamp"],
    )


def discord_make(request):
    timestamp = str(request.now)
    signature = ED25519.sign(timestamp.encode() + request.bytes).hex()
    return {"headers": {"x-signature-timestamp": timestamp, "x-signature-ed25519": signature}}


def discord_verify(request):
    from discord_interactions import verify_key

    signature, timestamp = (request.headers[f"x-signature-{name}"] for name in ("ed25519", "timestamp"))
    return verify_key(request.bytes, signature, timestamp, request.secret)


CASES = {
    "sendgrid": {
        "provider": "sendgrid",
        "package": "sendgrid",
        "calls": "EventWebhook.verify_signature",
        "secret": P256_PUBLIC,
        "private_key": pem(P256),
        "make": sendgrid_make,
        "verify": sendgrid_verify,
    },
    "discord": {
        "provider": "discord_interactions",
        "package": "discord-interactions",
        "calls": "verify_key",
        "secret": ED25519_PUBLIC.hex(),
        "private_key": pem(ED25519),
        "make": discord_make,
        "verify": discord_verify,
    },
}
