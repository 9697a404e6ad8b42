"""Messages and calls."""


def slack_sign(request):
    from slack_sdk.signature import SignatureVerifier

    timestamp = str(request.now)
    signature = SignatureVerifier(request.secret).generate_signature(timestamp=timestamp, body=request.bytes)
    return {"headers": {"x-slack-request-timestamp": timestamp, "x-slack-signature": signature}}


def slack_verify(request):
    from slack_sdk.signature import SignatureVerifier

    return SignatureVerifier(request.secret).is_valid_request(request.bytes, request.headers)


def twilio_form(request):
    from urllib.parse import parse_qsl

    return dict(parse_qsl(request.text, keep_blank_values=True))


def twilio_validator(request):
    from twilio.request_validator import RequestValidator, get_signature_algorithm

    algorithm = get_signature_algorithm(request.headers.get("x-twilio-webhooks-signature-settings"))
    return RequestValidator(request.secret), algorithm


def twilio_sign(request):
    validator, algorithm = twilio_validator(request)
    signature = validator.compute_signature(request.url, twilio_form(request), algorithm)
    return {"headers": {"x-twilio-signature": signature}}


def twilio_verify(request):
    validator, algorithm = twilio_validator(request)
    signature = request.headers["x-twilio-signature"]
    return validator.validate(request.url, twilio_form(request), signature, algorithm)


def pusher_verify(request):
    import pusher

    client = pusher.Pusher(app_id="1", key=request.headers["x-pusher-key"], secret=request.secret)
    signature = request.headers["x-pusher-signature"]
    return client.validate_webhook(request.headers["x-pusher-key"], signature, request.text) is not None


def sinch_verify(module, name):
    def verify(request):
        import importlib

        validator = getattr(importlib.import_module(f"sinch.domains.{module}"), name)(request.secret)
        return validator.validate_authentication_header(request.headers, request.bytes)

    return verify


def line_verify(request):
    from linebot.v3.webhook import SignatureValidator

    return SignatureValidator(request.secret).validate(request.text, request.headers["x-line-signature"])


CASES = {
    "line": {
        "provider": "line",
        "package": "line-bot-sdk",
        "calls": "SignatureValidator.validate",
        "secret": "of-the-interoperability-tests",
        "verify": line_verify,
    },
    "slack": {
        "provider": "slack_events",
        "package": "slack_sdk",
        "calls": "SignatureVerifier.generate_signature, is_valid_request",
        "secret": "8f742231b10e8888abcd99yyyzzz85a5",
        "sign": slack_sign,
        "verify": slack_verify,
    },
    "slack_commands": {
        "provider": "slack_commands",
        "package": "slack_sdk",
        "calls": "SignatureVerifier.generate_signature, is_valid_request",
        "secret": "8f742231b10e8888abcd99yyyzzz85a5",
        "sign": slack_sign,
        "verify": slack_verify,
    },
    "twilio": {
        "provider": "twilio",
        "package": "twilio",
        "calls": "RequestValidator.compute_signature, validate",
        "secret": "12345-of-the-interoperability-tests",
        "sign": twilio_sign,
        "verify": twilio_verify,
    },
    "twilio_shared_key": {
        "provider": "twilio",
        "package": "twilio",
        "calls": "RequestValidator.compute_signature, validate",
        "secret": "12345-of-the-interoperability-tests",
        # The header is not signed; it says how the rest is.
        "headers": {"x-twilio-webhooks-signature-settings": "key=webhooks_sharedkey_1,algorithm=HMAC_SHA256"},
        "sign": twilio_sign,
        "verify": twilio_verify,
    },
    "pusher": {
        "provider": "pusher",
        "package": "pusher",
        "calls": "validate_webhook",
        "secret": "interop-of-the-interoperability-tests",
        "verify": pusher_verify,
    },
    "sinch_sms": {
        "provider": "sinch",
        "package": "sinch",
        "calls": "SmsSinchEvent.validate_authentication_header",
        "secret": "interop-of-the-interoperability-tests",
        "sample": "recipient_delivery_report_sms",
        "verify": sinch_verify("sms.sinch_events.v1.sms_sinch_event", "SmsSinchEvent"),
    },
    "sinch_conversation": {
        "provider": "sinch",
        "package": "sinch",
        "calls": "ConversationSinchEvent.validate_authentication_header",
        "secret": "interop-of-the-interoperability-tests",
        "sample": "MESSAGE_INBOUND",
        "verify": sinch_verify("conversation.sinch_events.v1.conversation_sinch_event", "ConversationSinchEvent"),
    },
}
