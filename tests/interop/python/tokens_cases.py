"""Schemes whose signature holds more than itself: a token (JWT), and Braintree's form."""

from urllib.parse import parse_qs, urlencode

SECRET = "a-secret-of-the-interoperability-tests"


def vonage_verify(request):
    from vonage_jwt import verify_signature

    return verify_signature(request.headers["authorization"].removeprefix("Bearer "), request.secret)


def braintree_gateway(request):
    import braintree

    return braintree.BraintreeGateway(
        braintree.Configuration(
            environment=braintree.Environment.Sandbox,
            merchant_id="unused",
            public_key="integration_public_key",
            private_key=request.secret,
        )
    )


def braintree_sign(request):
    kind = "subscription_charged_successfully"
    sample = braintree_gateway(request).webhook_testing.sample_notification(kind, f"s{request.now}")
    return {"body": urlencode(sample)}


def braintree_verify(request):
    form = parse_qs(request.text)
    braintree_gateway(request).webhook_notification.parse(form["bt_signature"][0], form["bt_payload"][0])


CASES = {
    "vonage": {
        "provider": "vonage",
        "package": "vonage-jwt",
        "calls": "verify_signature",
        "secret": SECRET,
        # The package reads the token alone, and leaves the body's hash in it to the caller.
        "tamper": "header:authorization",
        "verify": vonage_verify,
    },
    "braintree": {
        "provider": "braintree",
        "package": "braintree",
        "calls": "webhook_testing.sample_notification, webhook_notification.parse",
        "secret": SECRET,
        "sign": braintree_sign,
        "verify": braintree_verify,
    },
}
