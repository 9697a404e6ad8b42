"""Answers questions with the providers' own Python packages.

One JSON object a line on standard input, one on standard output. See tests/interop/README.md for the questions.
"""

import base64
import json
import sys

import standardwebhooks
import stripe


def stripe_sign(question, body):
    text = body.decode("utf-8")
    timestamp = question["timestamp"]
    signature = stripe.WebhookSignature._compute_signature(f"{timestamp}.{text}", question["secret"])
    return {"headers": {"stripe-signature": f"t={timestamp},v1={signature}"}}


def stripe_verify(question, body):
    header = question["headers"]["stripe-signature"]
    event = stripe.Webhook.construct_event(body, header, question["secret"])
    return {"id": event["id"]}


def standard_sign(question, body):
    webhook = standardwebhooks.Webhook(question["secret"])
    moment = moment_of(question["timestamp"])
    signature = webhook.sign(question["id"], moment, body.decode("utf-8"))
    return {
        "headers": {
            "webhook-id": question["id"],
            "webhook-timestamp": str(question["timestamp"]),
            "webhook-signature": signature,
        }
    }


def standard_verify(question, body):
    standardwebhooks.Webhook(question["secret"]).verify(body, question["headers"])
    return {}


def moment_of(seconds):
    from datetime import datetime, timezone

    return datetime.fromtimestamp(seconds, tz=timezone.utc)


QUESTIONS = {
    "stripe.sign": stripe_sign,
    "stripe.verify": stripe_verify,
    "standardwebhooks.sign": standard_sign,
    "standardwebhooks.verify": standard_verify,
}


def answer(line):
    question = json.loads(line)
    body = base64.b64decode(question["body"])
    try:
        return {"ok": True, **QUESTIONS[question["ask"]](question, body)}
    except Exception as error:  # the packages have no common class of their own
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


for line in sys.stdin:
    print(json.dumps(answer(line)), flush=True)
